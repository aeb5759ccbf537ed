import type { Peer } from './dying-backends.ts'

/** A way in which a backend fails a request. */
export interface Death {
  readonly name: string
  /** Called when the request has arrived. */
  readonly begin: (peer: Peer) => void
  /** Called when the client has the part of the body that was sent. */
  readonly then?: (peer: Peer) => void
  /** Whether the gateway waits until a timeout ends the request. */
  readonly isSilent?: true
  /** Whether half of the body is sent first. */
  readonly sendsHalf?: true
  /** Whether the failure can happen to a tunnel. */
  readonly fitsTunnel?: true
  /** Whether the failure can happen to a tunnel only. */
  readonly isTunnel?: true
  /** Whether only HTTP/2 backends can fail in this way. */
  readonly isHttp2?: true
}

function half(peer: Peer): void {
  peer.head()
  peer.half()
}

const CODES = { NO_ERROR: 0, INTERNAL_ERROR: 2, REFUSED_STREAM: 7, CANCEL: 8, ENHANCE_YOUR_CALM: 11 }

export const deaths: readonly Death[] = [
  { name: 'resets the connection', fitsTunnel: true, begin: (peer) => peer.reset() },
  { name: 'closes the connection', fitsTunnel: true, begin: (peer) => peer.fin() },
  {
    name: 'closes inside the head',
    fitsTunnel: true,
    begin(peer) {
      peer.halfHead()
      peer.fin()
    },
  },
  { name: 'sends garbage for a head', fitsTunnel: true, begin: (peer) => peer.garbage() },
  { name: 'never answers', begin: () => {}, isSilent: true },
  { name: 'dies inside the body (FIN)', fitsTunnel: true, begin: half, sendsHalf: true, then: (peer) => peer.fin() },
  { name: 'dies inside the body (RST)', fitsTunnel: true, begin: half, sendsHalf: true, then: (peer) => peer.reset() },
  { name: 'sends garbage inside the body', begin: half, sendsHalf: true, then: (peer) => peer.garbage() },
  { name: 'falls silent inside the body', begin: half, sendsHalf: true, isSilent: true },
  ...Object.entries(CODES).flatMap(([name, code]): Death[] => [
    { name: `RST_STREAM(${name}) for a head`, begin: (peer) => peer.resetStream?.(code), isHttp2: true },
    {
      name: `RST_STREAM(${name}) inside the body`,
      begin: half,
      sendsHalf: true,
      then: (peer) => peer.resetStream?.(code),
      isHttp2: true,
    },
  ]),
  {
    name: 'GOAWAY and FIN inside the body',
    begin: half,
    sendsHalf: true,
    then(peer) {
      peer.goaway?.()
      peer.fin()
    },
    isHttp2: true,
  },
  {
    name: 'sends a close frame, and closes: whole',
    fitsTunnel: true,
    isTunnel: true,
    begin: half,
    sendsHalf: true,
    then(peer) {
      peer.rest()
      peer.fin()
    },
  },
  { name: 'is slow, and answers whole', begin: half, sendsHalf: true, then: (peer) => peer.rest() },
]
