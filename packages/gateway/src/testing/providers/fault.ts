import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Failure } from './answer.ts'
import type { FakeReply } from './reply.ts'

/** A failure or a delay between a provider and its clients. */
export interface Fault {
  /** The connection is closed before anything is answered. */
  hangUp?: true
  /** The error response to every request, in the vendor's format. */
  failure?: Failure
  /** The delay before the response head. */
  latencyMs?: number
  /** Between the head and the first byte of the body. */
  firstByteMs?: number
  /** Between two frames: the rate of tokens. */
  frameMs?: number
  /** Each frame leaves in pieces of so many bytes. */
  pieceBytes?: number
  break?: {
    /** Below 0 it counts from the end: -1 leaves out the last one. */
    afterFrames: number
    /**
     * `reset`: the connection is reset. `close`: it is closed within the body. `end`: the body ends as if it were whole.
     * `garbage`: bytes of no format come, then the body ends.
     */
    how: 'reset' | 'close' | 'end' | 'garbage'
  }
  /** Only that many requests meet it; all of them when left out. */
  times?: number
}

export async function send(reply: FakeReply, response: ServerResponse, fault: Fault): Promise<void> {
  await wait(fault.latencyMs ?? 0)
  const isWhole = reply.frames.length === 1 && fault.break === undefined && fault.pieceBytes === undefined
  const length = isWhole ? { 'content-length': String(reply.frames[0]?.length ?? 0) } : {}
  response.writeHead(reply.status, { ...reply.headers, ...length })
  response.flushHeaders()
  await wait(fault.firstByteMs ?? 0)
  const frames = reply.frames.slice(0, fault.break?.afterFrames ?? reply.frames.length)
  for (const [at, frame] of frames.entries()) {
    if (at > 0 && fault.frameMs !== undefined) await wait(fault.frameMs)
    if (response.destroyed) return
    for (const piece of piecesOf(frame, fault.pieceBytes)) await written(response, piece)
  }
  switch (fault.break?.how) {
    case 'reset':
      response.socket?.resetAndDestroy()
      break
    case 'close':
      response.destroy()
      break
    case 'garbage':
      response.end(Buffer.from('\u0000data: {"never": closed\n\n\uFFFD{{{\r\r\n', 'latin1'))
      break
    case 'end':
    case undefined:
      response.end()
      break
  }
}

function piecesOf(frame: Buffer, size: number | undefined): Buffer[] {
  if (size === undefined) return [frame]
  const pieces: Buffer[] = []
  for (let at = 0; at < frame.length; at += size) pieces.push(frame.subarray(at, at + size))
  return pieces
}

function written(response: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve) => response.write(piece, () => resolve()))
}
