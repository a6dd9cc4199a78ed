# The example operator, or op itself, as an image with libc, certificates and nothing else. BASE is any such image.
#   docker build --tag website-operator:0.1.0 .             builds it inside
#   docker build --target executable --tag ... .            takes dist/website-operator, which op build made
#   docker build --target op --tag op:0.1.0 .               the command line, with the Deno that it works with
#   docker build --target op-executable --tag ... .         takes dist/op-linux-x86_64, which tools/op_binary.ts made
ARG DENO=denoland/deno:2.9.6
ARG DENO_ALONE=denoland/deno:distroless-2.9.6
ARG BASE=gcr.io/distroless/cc-debian12:nonroot

# These need no other stage, so that they come first: old builders make all that come before.
FROM ${BASE} AS executable
ARG EXECUTABLE=dist/website-operator
COPY --chmod=0755 ${EXECUTABLE} /operator
USER 65532:65532
ENTRYPOINT ["/operator"]
CMD ["start"]

FROM ${DENO_ALONE} AS op-executable
ARG OP=dist/op-linux-x86_64
COPY --chmod=0755 ${OP} /usr/local/bin/op
USER 65532:65532
WORKDIR /project
ENTRYPOINT ["/usr/local/bin/op"]
CMD ["--help"]

FROM ${DENO} AS build
WORKDIR /source
COPY . .
ARG MAIN=examples/01_website/main.ts
RUN deno run -A cli/main.ts build ${MAIN} --output /operator && deno run -A tools/op_binary.ts --output /op

FROM ${DENO_ALONE} AS op
COPY --from=build --chmod=0755 /op /usr/local/bin/op
USER 65532:65532
WORKDIR /project
ENTRYPOINT ["/usr/local/bin/op"]
CMD ["--help"]

FROM ${BASE} AS operator
COPY --from=build --chmod=0755 /operator /operator
USER 65532:65532
ENTRYPOINT ["/operator"]
CMD ["start"]
