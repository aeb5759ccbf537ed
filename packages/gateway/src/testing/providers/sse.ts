/** Records of server-sent events, one frame each. */

export function dataFrame(value: unknown): Buffer {
  return Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
}

export function eventFrame(event: string, value: unknown): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`)
}

/** An event whose data name its type, too. */
export function typedFrame(value: { type: string; [name: string]: unknown }): Buffer {
  return eventFrame(value.type, value)
}
