/** `@portico/http/memory`: connections without a network, for programs that simulate traffic. */
export { memorySockets, MemorySocket } from '../memory/memory-socket.ts'
export { type ReceivedResponse, sendOver } from '../memory/memory-client.ts'
export { loadHttp2 } from '../client/pool/load-http2.ts'
