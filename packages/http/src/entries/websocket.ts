/** `@portico/http/websocket`: the handshake, frames, and tunnels of bytes. */
export { splice, type TunnelEnd, type TunnelSide } from '../net/splice.ts'
export {
  CLOSE,
  CloseFrameFinder,
  FIN,
  lengthBytes,
  LONGEST_HEAD,
  MASK,
  payloadLength,
} from '../net/websocket-frames.ts'
export { acceptOf } from '../net/websocket-handshake.ts'
