/** Server-sent events as they arrive: chunks may be cut anywhere, also inside a character. */

export interface SseEvent {
  /** Empty where the stream names none. */
  event: string
  data: string
  /** Empty where the event has none. */
  id: string
  /** Milliseconds after which a broken stream may be opened again; null where the event does not say. */
  retry: number | null
}

export interface SseParser {
  /** Events that these bytes complete. The chunk is not kept. */
  push(chunk: Buffer): SseEvent[]
  /** What the stream left unfinished: upstreams forget the last blank line. */
  end(): SseEvent[]
  /** An event was longer than allowed: nothing is read any more. */
  readonly isOverflown: boolean
}

export function createSseParser(maxEventBytes: number = MAX_EVENT_BYTES): SseParser {
  /** The beginning of a line whose end has not come; it grows by doubling, so that tiny chunks stay cheap. */
  let held = Buffer.alloc(0)
  let heldLength = 0
  let event = ''
  let data: string | null = null
  let id = ''
  let retry: number | null = null
  let eventBytes = 0
  let isOverflown = false
  let isFirstLine = true
  /** The last line ended in CR: an LF right behind it belongs to it. */
  let afterReturn = false

  function hold(bytes: Buffer): void {
    if (heldLength + bytes.length > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(256, 2 * (heldLength + bytes.length)))
      held.copy(larger, 0, 0, heldLength)
      held = larger
    }
    bytes.copy(held, heldLength)
    heldLength += bytes.length
  }

  function takeLine(bytes: Buffer): string {
    let line = bytes.toString('utf8')
    if (heldLength > 0) {
      hold(bytes)
      line = held.toString('utf8', 0, heldLength)
      heldLength = 0
    }
    if (isFirstLine && line.startsWith('\uFEFF')) line = line.slice(1)
    isFirstLine = false
    return line
  }

  function readLine(line: string, into: SseEvent[]): void {
    if (line === '') {
      if (data !== null) into.push({ event, data, id, retry })
      event = ''
      data = null
      id = ''
      retry = null
      eventBytes = 0
      return
    }
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data = data === null ? value : `${data}\n${value}`
    else if (name === 'event') event = value
    else if (name === 'id') id = value.includes('\0') ? '' : value
    else if (name === 'retry') retry = /^\d{1,9}$/.test(value) ? Number(value) : null
  }

  return {
    push(chunk) {
      const events: SseEvent[] = []
      let start = 0
      if (afterReturn && chunk.length > 0) {
        if (chunk[0] === LF) start = 1
        afterReturn = false
      }
      // Each is looked for again only once it is passed: nearly every stream uses LF alone.
      let lf = chunk.indexOf(LF, start)
      let cr = chunk.indexOf(CR, start)
      while (!isOverflown && start < chunk.length) {
        if (cr !== -1 && cr < start) cr = chunk.indexOf(CR, start)
        if (lf !== -1 && lf < start) lf = chunk.indexOf(LF, start)
        const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
        const length = (end === -1 ? chunk.length : end) - start
        eventBytes += length
        if (eventBytes > maxEventBytes) {
          isOverflown = true
          held = Buffer.alloc(0)
          break
        }
        if (end === -1) {
          hold(chunk.subarray(start))
          break
        }
        readLine(takeLine(chunk.subarray(start, end)), events)
        start = end + 1
        if (chunk[end] !== CR) continue
        if (start === chunk.length) afterReturn = true
        else if (chunk[start] === LF) start += 1
      }
      return events
    },
    end() {
      const events: SseEvent[] = []
      if (isOverflown) return events
      if (heldLength > 0) readLine(takeLine(Buffer.alloc(0)), events)
      readLine('', events)
      return events
    },
    get isOverflown() {
      return isOverflown
    },
  }
}

/** One record for a client; JSON has no line breaks, so it is one line. */
export function sseRecord(data: string, event?: string): string {
  return event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`
}

const LF = 0x0a
const CR = 0x0d
const MAX_EVENT_BYTES = 16 * 1024 * 1024
