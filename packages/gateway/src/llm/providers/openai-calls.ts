/** The calls of OpenAI's API beyond chats and embeddings, with the end of their path. */
export const OPENAI_CALLS = {
  moderations: 'moderations',
  imageGenerations: 'images/generations',
  imageEdits: 'images/edits',
  imageVariations: 'images/variations',
  speech: 'audio/speech',
  transcriptions: 'audio/transcriptions',
  translations: 'audio/translations',
  files: 'files',
  batches: 'batches',
} as const

export type OpenAiCall = keyof typeof OPENAI_CALLS

/** Whether a call is in the table. Providers ask after chats, which are most calls. */
export function isOpenAiCall(kind: string): kind is OpenAiCall {
  return Object.hasOwn(OPENAI_CALLS, kind)
}
