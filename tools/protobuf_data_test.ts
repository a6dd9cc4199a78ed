import assert from "node:assert/strict";
import { fieldText, goStructs, protoMessages } from "./protobuf_data.ts";

const PROTO = `package k8s.io.api.core.v1;

message Volume {
  // A comment = 9;
  optional string name = 1;

  optional VolumeSource volumeSource = 2;

  repeated .k8s.io.apimachinery.pkg.apis.meta.v1.Time times = 3;

  map<string, bytes> data = 4;
}
`;

const GO = `
type Volume struct {
	// A comment
	Name string \`json:"name" protobuf:"bytes,1,opt,name=name"\`
	VolumeSource \`json:",inline" protobuf:"bytes,2,opt,name=volumeSource"\`
	Times []metav1.Time \`json:"times,omitempty" protobuf:"bytes,3,rep,name=times"\`
	Size  *int32 \`json:"size,omitempty" protobuf:"varint,5,opt,name=size"\`
}
`;

Deno.test("fieldText combines the fields of protoMessages and goStructs", () => {
  const [field, inline, times, data] = protoMessages(PROTO).get("Volume") ?? [];
  const struct = goStructs(GO).get("Volume");
  assert(field && inline && times && data && struct);

  assert.equal(fieldText(field, struct.get(1)), "1 name !s");
  assert.equal(fieldText(inline, struct.get(2)), "2  !:core.v1.VolumeSource");
  assert.equal(fieldText(times, struct.get(3)), "3 times *:meta.v1.Time");
  assert.equal(fieldText(data, struct.get(4)), "4 data %?b");
  assert.deepEqual(struct.get(5), { json: "size", isPointer: true, omitsEmpty: true });
});
