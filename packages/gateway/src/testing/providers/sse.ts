/** Records of server-sent events, one frame each. */

export function dataFrame(value: unknown): Buffer {
  return Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
}

export function eventFrame(event: string, value: unknown): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
}
