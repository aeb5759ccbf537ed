import * as frames from '../../http2/frames.ts'
import { clientSettings, type PeerSettings } from '../../http2/peer-settings.ts'
import { contained } from '../../runtime/faults.ts'
import { STREAM_WINDOW } from './http2-response-body.ts'

/** The settings that a backend has sent, as far as calls depend on them. */
export class BackendSettings {
  /** The number of calls that may be in progress at a time. */
  maxStreams = MAX_STREAMS
  /** Whether streams may carry other protocols (RFC 8441); null until the backend's settings arrive. */
  #takesTunnels: boolean | null = null
  readonly #waiting: ((takesTunnels: boolean) => void)[] = []

  get haveArrived(): boolean {
    return this.#takesTunnels !== null
  }

  change({ maxStreams, takesTunnels }: PeerSettings): void {
    if (maxStreams !== undefined) this.maxStreams = Math.min(withReserve(maxStreams), MAX_STREAMS)
    this.#settle(takesTunnels ?? this.#takesTunnels ?? false)
  }

  /** Called when the connection is gone: calls that wait for the settings open no tunnel. */
  giveUp(): void {
    this.#settle(false)
  }

  whenSettled(then: (takesTunnels: boolean) => void): void {
    if (this.#takesTunnels === null) this.#waiting.push(then)
    else then(this.#takesTunnels)
  }

  #settle(takesTunnels: boolean): void {
    this.#takesTunnels = takesTunnels
    for (const then of this.#waiting.splice(0)) contained('request', () => then(takesTunnels))
  }
}

/**
 * One stream stays unused. Go's server counts a stream until the write of its last frame has returned, and that may be
 * after the next stream has arrived: it would be reset with PROTOCOL_ERROR. The server writes one frame at a time.
 */
function withReserve(limit: number): number {
  return limit > 1 ? limit - 1 : limit
}

const MAX_STREAMS = 100
const MAX_HEAD = 262_144
const CONNECTION_WINDOW = 4_194_304
/** The limits of this side for heads and windows. */
export const LIMITS = { connectionWindowSize: CONNECTION_WINDOW, maxHeaderSize: MAX_HEAD, maxFields: 500 }
export const FRAME_LIMITS = { maxFrame: frames.SMALLEST_MAX_FRAME, maxWhole: frames.SMALLEST_MAX_FRAME }
/** The first bytes of a connection, which announce those limits. */
export const GREETING =
  frames.PREFACE.toString('latin1') +
  clientSettings({ windowSize: STREAM_WINDOW, maxHeaderSize: MAX_HEAD }) +
  frames.windowUpdateFrame(0, CONNECTION_WINDOW - frames.FIRST_WINDOW)
