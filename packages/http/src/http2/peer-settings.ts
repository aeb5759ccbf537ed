import {
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  frameHead,
  LARGEST_WINDOW,
  PROTOCOL_ERROR,
  SETTINGS,
  SMALLEST_MAX_FRAME,
  uint32,
} from './frames.ts'

/**
 * The settings in a SETTINGS frame that a sender needs; undefined when the frame does not contain them (RFC 9113
 * section 6.5.2).
 */
export interface PeerSettings {
  headerTableSize?: number
  maxStreams?: number
  initialWindowSize?: number
  maxFrameSize?: number
  /** Whether streams may carry other protocols (RFC 8441). */
  takesTunnels?: boolean
}

/**
 * Returns an error code for an invalid frame. A server must not enable push: `largestPush` is 0 for a server's
 * settings.
 */
export function readSettings(bytes: Buffer, start: number, end: number, largestPush: 0 | 1): PeerSettings | number {
  const length = end - start
  if (length % SETTING_SIZE !== 0) return FRAME_SIZE_ERROR
  if (length > MAX_SETTINGS * SETTING_SIZE) return ENHANCE_YOUR_CALM
  const settings: PeerSettings = {}
  for (let at = start; at < end; at += SETTING_SIZE) {
    const value = bytes.readUInt32BE(at + 2)
    switch (bytes.readUInt16BE(at)) {
      case HEADER_TABLE_SIZE:
        // The lowest value counts: a smaller size in between must be signaled too.
        settings.headerTableSize = Math.min(value, settings.headerTableSize ?? value)
        break
      case ENABLE_PUSH:
        if (value > largestPush) return PROTOCOL_ERROR
        break
      case MAX_CONCURRENT_STREAMS:
        settings.maxStreams = value
        break
      case INITIAL_WINDOW_SIZE:
        if (value > LARGEST_WINDOW) return FLOW_CONTROL_ERROR
        settings.initialWindowSize = value
        break
      case MAX_FRAME_SIZE:
        if (value < SMALLEST_MAX_FRAME || value > LARGEST_MAX_FRAME) return PROTOCOL_ERROR
        settings.maxFrameSize = value
        break
      case ENABLE_CONNECT_PROTOCOL:
        if (value > 1) return PROTOCOL_ERROR
        settings.takesTunnels = value === 1
    }
  }
  return settings
}

/** Returns the SETTINGS frame of a server. */
export function serverSettings(limits: {
  maxStreams: number
  windowSize: number
  frameSize: number
  maxHeaderSize: number
}): string {
  return settingsFrame([
    [MAX_CONCURRENT_STREAMS, limits.maxStreams],
    [INITIAL_WINDOW_SIZE, limits.windowSize],
    [MAX_FRAME_SIZE, limits.frameSize],
    [MAX_HEADER_LIST_SIZE, limits.maxHeaderSize],
    // WebSocket over HTTP/2 (RFC 8441).
    [ENABLE_CONNECT_PROTOCOL, 1],
  ])
}

/** Returns the SETTINGS frame of a client, which disables push. */
export function clientSettings(limits: { windowSize: number; maxHeaderSize: number }): string {
  return settingsFrame([
    [ENABLE_PUSH, 0],
    [INITIAL_WINDOW_SIZE, limits.windowSize],
    [MAX_HEADER_LIST_SIZE, limits.maxHeaderSize],
  ])
}

function settingsFrame(settings: readonly (readonly [name: number, value: number])[]): string {
  const payload = settings.map(([name, value]) => String.fromCharCode(0, name) + uint32(value)).join('')
  return frameHead(payload.length, SETTINGS, 0, 0) + payload
}

const HEADER_TABLE_SIZE = 1
const ENABLE_PUSH = 2
const MAX_CONCURRENT_STREAMS = 3
const INITIAL_WINDOW_SIZE = 4
const MAX_FRAME_SIZE = 5
const MAX_HEADER_LIST_SIZE = 6
const ENABLE_CONNECT_PROTOCOL = 8

const SETTING_SIZE = 6
const MAX_SETTINGS = 32
const LARGEST_MAX_FRAME = 2 ** 24 - 1
