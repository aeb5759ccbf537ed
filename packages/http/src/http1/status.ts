import { STATUS_CODES } from 'node:http'

const lines = new Map<number, string>()

/**
 * Returns `HTTP/1.1 200 OK` and the line end. Reason phrases are the gateway's own, because nothing may depend on them.
 */
export function statusLine(status: number): string {
  let line = lines.get(status)
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
    lines.set(status, line)
  }
  return line
}
