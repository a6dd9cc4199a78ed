/**
 * The media type of protobuf, in a module of its own. The modules that decode and encode protobuf
 * are loaded on demand, since most clients never use it.
 */

/** Media type of objects in protobuf. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";
