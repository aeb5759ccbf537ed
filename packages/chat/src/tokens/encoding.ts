/** Counts the tokens of texts; the vocabulary is loaded when the first text needs it. */
interface Encoding {
  count(text: string): number
}

type EncodingName = 'o200k' | 'cl100k'

/** The encoding of a model. The count is an estimate for models without a published vocabulary. */
export function encodingNameOf(model: string): EncodingName {
  return NEWER.test(model) ? 'o200k' : 'cl100k'
}

/** A vendor (`openai/`) or a fine-tuning prefix (`ft:`) may precede the name. */
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
  // The tokenizer caches words of prompts; this size suffices for frequent words.
  setMergeCacheSize(CACHED_WORDS)
  return { count: (text) => countTokens(text, PLAIN_TEXT) }
}

/** Clients cannot send special tokens: text that looks like a special token is plain text. */
const PLAIN_TEXT = { disallowedSpecial: new Set<string>() }
const CACHED_WORDS = 10_000
