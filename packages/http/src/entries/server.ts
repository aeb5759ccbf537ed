/** `@portico/http/server`: listeners and the connections of clients. */
export type { BindState } from '../server/bind-state.ts'
export type {
  DatagramClient,
  DatagramObserver,
  DatagramRefusal,
  DatagramSession,
  DatagramState,
  DropReason,
  SessionEnd,
} from '../server/udp/datagram-state.ts'
export { HandshakePasses } from '../server/tls/handshake-passes.ts'
export { MessageHead } from '../http1/head.ts'
export { Fields, RequestHead } from '../server/http2/request-head.ts'
export { http2Defaults, type Http2Limits } from '../server/http2/server-connection.ts'
export type { Certificate, ClientCertificates, ListenerTls } from '../server/tls/listener-tls.ts'
export { BindServer, type StreamRefusal } from '../server/listener.ts'
export { plainHttpBind } from '../server/plain-bind.ts'
export { readCertificates } from '../tls/pem.ts'
export { urisIn } from '../exchange/client-certificate.ts'
export type { HandshakeFailure, ServerTls, TlsProblem } from '../server/tls/tls.ts'
