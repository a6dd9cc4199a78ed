/**
 * An HTTP/2 client for one API server, over TLS connections that Deno opens.
 *
 * A pod uses it instead of `fetch`, which spends twice the CPU time per request (see
 * `docs/decisions/0014-own-http2.md`). `OP_HTTP_CLIENT=fetch` turns it off.
 *
 * | file | what it does | specification |
 * | --- | --- | --- |
 * | `transport.ts` | opens connections, repeats rejected requests | RFC 9113 section 8.7 |
 * | `connection.ts` | requests and responses of one connection | RFC 9113 sections 5.1, 6, 8 |
 * | `request_queue.ts` | limits open streams | RFC 9113 section 5.1.2 |
 * | `flow_control.ts` | sends request bodies | RFC 9113 sections 5.2, 6.9 |
 * | `framing.ts` | preface, header blocks, acknowledgments | RFC 9113 sections 3.4, 4.3, 6.5, 6.7 |
 * | `frames.ts` | layout and validation of frames | RFC 9113 sections 4, 6, 7 |
 * | `hpack.ts` | header compression | RFC 7541 |
 * | `liveness.ts` | PING after silence | RFC 9113 section 6.7 |
 *
 * These parts of HTTP/2 are out of scope, because API servers do not use them: server push
 * (disabled by SETTINGS, and a PUSH_PROMISE ends the connection), priorities (ignored), CONNECT and
 * upgrades, trailers (validated and dropped), streamed request bodies, and a dynamic table for
 * response headers (its size is announced as 0).
 *
 * A server cannot make the client use unlimited memory or time:
 *
 * | limit | value | constant |
 * | --- | --- | --- |
 * | one frame | 16 KiB | `MAX_FRAME_SIZE` |
 * | one header block, of any number of frames | 1 MiB | `MAX_HEADER_BLOCK` |
 * | informational (1xx) responses of a request | 5 | `MAX_INFORMATIONAL` |
 * | unread bytes of a streamed response | 4 MiB | `STREAM_WINDOW` |
 * | a response that is not streamed | 512 MiB | `MAX_RESPONSE_BYTES` |
 * | acknowledgments that the server does not read | 10,000 | `MAX_UNSENT_ACKS` |
 * | silence while a request is pending | 8.25 s | `liveness.ts` |
 * | TCP connect and TLS handshake | 10 s | `HANDSHAKE_TIMEOUT` |
 *
 * `connection_fuzz_test.ts` checks this against random and mutated frames.
 */
export { Http2Transport, type Http2TransportOptions } from "./transport.ts";
