import { callReadings, type JsonObject, type Reading, type Usage } from '@portico/chat'
import { estimatePrompt } from '../../../llm/estimate-call.ts'
import { IMAGE_TOKENS, imagesOf } from '../jobs/media-job.ts'
import type { FormFiles } from './held-parts.ts'

/** The calls whose request is a form with files. */
export type FormKind = 'transcriptions' | 'translations' | 'imageEdits' | 'imageVariations'

interface FormCallProperties {
  readonly operation: 'transcription' | 'translation' | 'image_edit' | 'image_variation'
  /** Whether the response is a text, which guards can examine. */
  readonly answersText: boolean
  /** The parts whose content passes unread. */
  readonly files: ReadonlySet<string>
  /** Finds the texts of the fields, for guards. `file` stands for the files. */
  readonly reading: Reading
  /** The usage of a complete response that reports none. */
  readonly units: (fields: JsonObject) => Usage
  /** The most that the call may use, for budgets. */
  readonly expected: (fields: JsonObject, files: FormFiles) => Usage
}

const sound = {
  answersText: true,
  files: new Set(['file', 'known_speaker_references[]']),
  units: () => ({}),
  expected: expectedSound,
} as const

const pictures = {
  answersText: false,
  files: new Set(['image', 'image[]', 'mask', 'markup']),
  units: (fields: JsonObject) => ({ images: imagesOf(fields) }),
  expected: expectedImages,
} as const

export const FORM_CALLS: Readonly<Record<FormKind, FormCallProperties>> = {
  transcriptions: { ...sound, operation: 'transcription', reading: callReadings.transcriptions },
  translations: { ...sound, operation: 'translation', reading: callReadings.translations },
  imageEdits: { ...pictures, operation: 'image_edit', reading: callReadings.imageEdits },
  imageVariations: { ...pictures, operation: 'image_variation', reading: callReadings.imageVariations },
}

/** The seconds of a file are not known before the provider has read it. */
function expectedSound(fields: JsonObject, { bytes }: FormFiles): Usage {
  const seconds = Math.ceil((bytes === -1 ? LARGEST_FILE : bytes) / LEAST_BYTES_PER_SECOND)
  return {
    calls: 1,
    seconds,
    input: estimatePrompt(fields, null) + seconds * TOKENS_PER_SECOND,
    inputAudio: seconds * TOKENS_PER_SECOND,
    output: Math.min(seconds * TOKENS_PER_SECOND, MOST_OUTPUT),
  }
}

/** Images in count about as many tokens as images out; those after the first may still be on their way. */
function expectedImages(fields: JsonObject, { names }: FormFiles): Usage {
  const given = Math.max(names.length, 1) * IMAGE_TOKENS
  const images = imagesOf(fields)
  return {
    calls: 1,
    images,
    input: estimatePrompt(fields, null) + given,
    inputImage: given,
    output: images * IMAGE_TOKENS,
  }
}

/** A form of unknown length may have as much as OpenAI takes. */
const LARGEST_FILE = 25 * 1024 * 1024
/** Speech of 16 kbit/s: files with a higher rate are shorter. */
const LEAST_BYTES_PER_SECOND = 2_000
/** Tokens of sound, as OpenAI's models count them. */
const TOKENS_PER_SECOND = 10
const MOST_OUTPUT = 16_384
