import { sourceOf } from '@portico/http'
import { wholeBody } from '../context/body-use.ts'
import { Reply } from '../context/reply.ts'
import type { Dialogue } from './dialogue.ts'
import { bodyMessage, newBody } from './messages.ts'
import { PassingBody } from './passing-body.ts'
import type { Side } from './side.ts'
import type { Talk } from './talk.ts'

/** The number of bytes of a body that are read before they are sent. */
export type ReadUse = 'whole' | 'prefix'

/** Sends a buffered body to the processor; returns true when the rest passes unchanged. */
export async function processRead(use: ReadUse, side: Side, talk: Talk, dialogue: Dialogue): Promise<boolean> {
  const refusal = await side.read(use, talk.maxBufferBytes)
  if (refusal instanceof Reply) {
    talk.stop(refusal)
    return false
  }
  const { whole = null, prefix = EMPTY, trailers = null } = side.buffered ?? {}
  const asksTrailers = whole !== null && trailers !== null && talk.modes(side.name).sendsTrailers
  const answer = await dialogue.ask('body', bodyMessage(side.name, whole ?? prefix, whole !== null && !asksTrailers))
  if (answer === null) return false
  if (!dialogue.use('body', answer)) return false
  const bytes = newBody(answer.common?.bodyMutation)
  if (bytes === 'piece') {
    talk.fail('the processor answered a buffered body with a streamed chunk')
    return false
  }
  if (whole === null) {
    if (bytes !== null) replaceStart(side, bytes, prefix.length)
    return true
  }
  if (asksTrailers) {
    const changed = await dialogue.askTrailers(trailers)
    side.body = sourceOf(whole, changed)
    side.buffered = wholeBody(whole, changed)
  }
  if (bytes !== null) side.message.replaceBody(() => bytes)
  return false
}

function replaceStart(side: Side, bytes: Buffer, replaces: number): void {
  side.body = new PassingBody(side.body, { start: { bytes, replaces } })
  side.buffered = null
  side.message.headers.remove('content-length')
}

const EMPTY = Buffer.alloc(0)
