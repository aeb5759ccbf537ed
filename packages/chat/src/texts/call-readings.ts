import {
  anything,
  block,
  list,
  object,
  plain,
  type Reading,
  settings,
  text,
  textOrList,
  unexamined,
} from './request-texts.ts'

/** The texts in the requests of calls that are not chats. */

const image = unexamined('Image')

const documents = list((value, at) => (typeof value === 'string' ? text(value, at) : anything(value, at)))

export const callReadings = {
  imageGenerations: object({
    ...{ model: plain, prompt: text, n: plain, size: settings, quality: settings, response_format: settings },
    ...{ stream: plain, partial_images: plain, background: settings, moderation: settings, output_format: settings },
    ...{ output_compression: plain, style: settings },
  }),
  speech: object({
    ...{ model: plain, input: text, instructions: text, voice: settings, response_format: settings, speed: plain },
    stream_format: settings,
  }),
  moderations: object({
    model: plain,
    input: textOrList(
      itemOr(block({ text: object({ type: plain, text }), image_url: object({ type: plain, image_url: image }) })),
    ),
  }),
  rerank: object({ model: plain, query: text, documents, top_n: plain, top_k: plain }),
} as const satisfies Readonly<Record<string, Reading>>

/** A text in a list of blocks. */
function itemOr(blocks: Reading): Reading {
  return (value, at) => (typeof value === 'string' ? text(value, at) : blocks(value, at))
}
