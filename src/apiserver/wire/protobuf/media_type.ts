/** The format's name. What reads and writes it is loaded when a client first asks for it: most never do. */

/** The media type of objects in protobuf. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";
