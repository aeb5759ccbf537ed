/** How texts become the tokens of a model; a vocabulary is loaded when the first text needs it. */
export interface Encoding {
  count(text: string): number
}

export type EncodingName = 'o200k' | 'cl100k'

/** Of models that nobody published a vocabulary of, the count by a common one is an estimate. */
export function encodingNameOf(model: string): EncodingName {
  return NEWER.test(model) ? 'o200k' : 'cl100k'
}

/** Names may stand behind a vendor (`openai/`) or a tuning (`ft:`). */
const NEWER = /(?:^|[/:])(?:(?:chat)?gpt-4o|gpt-4\.[1-9]|gpt-(?:[5-9]|[1-9][0-9])|gpt-oss|o[1-9](?:$|-))/i

export function loadEncoding(name: EncodingName): Promise<Encoding> {
  return (loaded[name] ??= load(name))
}

const loaded: Partial<Record<EncodingName, Promise<Encoding>>> = {}

async function load(name: EncodingName): Promise<Encoding> {
  const { countTokens, setMergeCacheSize } =
    name === 'o200k'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base')
  // It keeps words of prompts: enough for those that come again and again.
  setMergeCacheSize(CACHED_WORDS)
  return { count: (text) => countTokens(text, PLAIN_TEXT) }
}

/** Clients cannot write special tokens: what looks like one is text. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() }
const CACHED_WORDS = 10_000
