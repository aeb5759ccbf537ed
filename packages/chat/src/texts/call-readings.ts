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

const audio = unexamined('Audio')

const documents = list((value, at) => (typeof value === 'string' ? text(value, at) : anything(value, at)))

export const callReadings = {
  imageGenerations: object({
    ...{ model: plain, prompt: text, n: plain, size: settings, quality: settings, response_format: settings },
    ...{ stream: plain, partial_images: plain, background: settings, moderation: settings, output_format: settings },
    ...{ output_compression: plain, style: settings },
  }),
  imageEdits: object({
    ...{ model: plain, image, images: image, mask: image, markup: image, prompt: text, n: plain, size: settings },
    ...{ quality: settings, response_format: settings, stream: plain, partial_images: plain, background: settings },
    ...{ input_fidelity: settings, moderation: settings, output_format: settings, output_compression: plain },
  }),
  imageVariations: object({ model: plain, image, n: plain, size: settings, response_format: settings }),
  speech: object({
    ...{ model: plain, input: text, instructions: text, voice: settings, response_format: settings, speed: plain },
    stream_format: settings,
  }),
  transcriptions: object({
    ...{ model: plain, file: audio, prompt: text, language: settings, response_format: settings, temperature: plain },
    ...{ stream: plain, timestamp_granularities: settings, include: settings, chunking_strategy: settings },
    known_speaker_references: audio,
  }),
  translations: object({
    ...{ model: plain, file: audio, prompt: text, response_format: settings, temperature: plain },
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
