/** `@portico/http/websocket`: the handshake, frames, and tunnels of bytes. */
export { splice, type TunnelEnd, type TunnelSide } from '../exchange/splice.ts'
export {
  CLOSE,
  CloseFrameFinder,
  FIN,
  lengthBytes,
  LONGEST_HEAD,
  MASK,
  payloadLength,
} from '../websocket/websocket-frames.ts'
export { acceptOf } from '../websocket/websocket-handshake.ts'
