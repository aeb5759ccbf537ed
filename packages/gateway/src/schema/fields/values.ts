import { Refusal, scalar } from '../kit.ts'
import type { Json, JsonObject, Refers, Schema } from '../kit.ts'
import { printChoices } from '../problem.ts'
import { didYouMean } from '../../formats/suggest.ts'
import { byteSizePattern, parseByteSize, parseDuration, printDuration } from './quantity.ts'
import { sizesFrom, sizesUpTo } from './size-patterns.ts'

/** Plain values: texts, numbers, switches, words, time spans, sizes. */

export function string(size: { min?: number; max: number }, form?: { pattern: RegExp; expected: string }) {
  const min = size.min ?? 0
  const expected = form?.expected ?? (min === 0 ? `text of at most ${size.max} characters` : printLength(min, size.max))
  const pattern: JsonObject = form === undefined ? {} : { pattern: form.pattern.source }
  return scalar<string>(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type', { suggestion: quoteHint(input) })
      if (input.length < min || input.length > size.max) return new Refusal('out_of_range')
      return form === undefined || form.pattern.test(input) ? input : new Refusal('bad_format')
    },
    { type: 'string', expected, json: { type: 'string', minLength: min, maxLength: size.max, ...pattern } },
  )
}

/** Text that `read` turns into a value, or refuses with null. */
export function textual<Out>(
  read: (text: string) => Out | null,
  node: { type: string; expected: string; json: JsonObject; crd?: JsonObject; refers?: Refers | null },
): Schema<Out> {
  return scalar<Out>((input) => {
    if (typeof input !== 'string') return new Refusal('wrong_type')
    return read(input) ?? new Refusal('bad_format')
  }, node)
}

export function integer(range: { min: number; max: number }) {
  return scalar<number>((input) => readNumber(input, range, Number.isSafeInteger), {
    type: 'integer',
    expected: `an integer from ${range.min} to ${range.max}`,
    json: { type: 'integer', minimum: range.min, maximum: range.max },
  })
}

export function number(range: { min: number; max: number }) {
  return scalar<number>((input) => readNumber(input, range, Number.isFinite), {
    type: 'number',
    expected: `a number from ${range.min} to ${range.max}`,
    json: { type: 'number', minimum: range.min, maximum: range.max },
  })
}

export function port() {
  return integer({ min: 1, max: 65_535 })
}

export function boolean() {
  return scalar<boolean>((input) => (typeof input === 'boolean' ? input : new Refusal('wrong_type')), {
    type: 'boolean',
    expected: '`true` or `false`',
    json: { type: 'boolean' },
  })
}

/**
 * One of several words, in any letter case; the output is the canonical spelling. Words that look like numbers may be
 * numbers.
 */
export function enumeration<const Word extends string>(words: readonly Word[]): Schema<Word> {
  const wordsByLowerCase = new Map(words.map((word) => [word.toLowerCase(), word]))
  const wordsByNumber = new Map(
    words.filter((word) => /^[0-9]+(\.[0-9]+)?$/.test(word)).map((word) => [Number(word), word]),
  )
  return scalar<Word>(
    (input) => {
      if (typeof input === 'number') return wordsByNumber.get(input) ?? new Refusal('wrong_type')
      if (typeof input !== 'string') return new Refusal('wrong_type')
      const word = wordsByLowerCase.get(input.toLowerCase())
      return word ?? new Refusal('not_allowed', { suggestion: didYouMean(input, words) })
    },
    {
      type: 'enum',
      expected: words.length === 1 ? `\`${words[0]}\`` : `one of ${printChoices(words)}`,
      json: { enum: [...new Set([...words, ...wordsByLowerCase.keys(), ...wordsByNumber.keys()])] },
      crd: { type: 'string', enum: [...words] },
      values: words,
    },
  )
}

const defaultLongest = 8_760 * 3_600_000

const durationPattern = '^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$'
const resourceDurationPattern = '^([0-9]{1,5}(h|m|s|ms)){1,4}$'

function boundOf(text: string | undefined, otherwise: number): number {
  const milliseconds = text === undefined ? otherwise : parseDuration(text)
  if (milliseconds === null) throw new Error(`${text} is no duration`)
  return milliseconds
}

/** Go-style text in, milliseconds out. */
export function duration(bounds: { min?: string; max?: string } = {}) {
  const range = { min: boundOf(bounds.min, 0), max: boundOf(bounds.max, defaultLongest) }
  const limits = [
    range.min > 0 ? [`of at least ${bounds.min}`] : [],
    range.max === defaultLongest ? [] : [`of at most ${bounds.max}`],
  ].flat()
  return scalar<number>(
    (input) => {
      if (typeof input !== 'string') {
        const suggestion = typeof input === 'number' ? `give a unit, such as "${input}s"` : null
        return new Refusal('wrong_type', { suggestion })
      }
      const milliseconds = parseDuration(input)
      if (milliseconds === null) return new Refusal('bad_format')
      return milliseconds >= range.min && milliseconds <= range.max ? milliseconds : new Refusal('out_of_range')
    },
    {
      type: 'duration',
      expected: ['a duration such as `1m30s` or `100ms`', ...limits].join(' '),
      json: { type: 'string', maxLength: 64, pattern: durationPattern },
      crd: {
        type: 'string',
        maxLength: 32,
        pattern: resourceDurationPattern,
        'x-kubernetes-validations': durationRules(range),
      },
    },
  )
}

function durationRules({ min, max }: { min: number; max: number }): Json[] {
  const [least, most] = [printDuration(min), printDuration(max)]
  return [
    ...(min === 0 ? [] : [{ rule: `duration(self) >= duration('${least}')`, message: `must be at least ${least}` }]),
    { rule: `duration(self) <= duration('${most}')`, message: `must be at most ${most}` },
  ]
}

/** A whole number of seconds, or Go-style text; milliseconds out. */
export function durationOrSeconds() {
  const longest = defaultLongest / 1_000
  return scalar<number>(
    (input) => {
      const milliseconds = typeof input === 'string' ? parseDuration(input) : readSeconds(input)
      if (milliseconds === null) return new Refusal(typeof input === 'string' ? 'bad_format' : 'wrong_type')
      return milliseconds >= 0 && milliseconds <= defaultLongest ? milliseconds : new Refusal('out_of_range')
    },
    {
      type: 'duration',
      expected: 'a duration such as `10m`, or a whole number of seconds',
      json: { type: ['integer', 'string'], minimum: 0, maximum: longest, maxLength: 64, pattern: durationPattern },
      crd: {
        'x-kubernetes-int-or-string': true,
        minimum: 0,
        maximum: longest,
        maxLength: 32,
        pattern: resourceDurationPattern,
      },
    },
  )
}

/** Any JSON value of at most `max` characters. */
export function json({ max }: { max: number }): Schema<Json> {
  return scalar<Json>(
    (input) => {
      if (!isJson(input, 0)) return new Refusal('wrong_type')
      return JSON.stringify(input).length <= max ? input : new Refusal('out_of_range')
    },
    {
      type: 'JSON',
      expected: `a JSON value of at most ${max} characters`,
      json: {},
      crd: { 'x-kubernetes-preserve-unknown-fields': true },
    },
  )
}

/** Whether the input is JSON; YAML also has `.nan`, dates and cyclic values. */
function isJson(input: unknown, depth: number): input is Json {
  if (typeof input === 'number') return Number.isFinite(input)
  if (input === null || typeof input === 'string' || typeof input === 'boolean') return true
  if (typeof input !== 'object' || depth > 64) return false
  if (Array.isArray(input)) return input.every((item) => isJson(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(input)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(input).every((member) => isJson(member, depth + 1))
}

/** One of some status codes. */
export function statusCode<const Code extends number>(codes: readonly Code[]): Schema<Code> {
  return scalar<Code>(
    (input) =>
      codes.find((code) => code === input) ?? new Refusal(typeof input === 'number' ? 'not_allowed' : 'wrong_type'),
    {
      type: 'integer',
      expected: `one of ${printChoices(codes.map(String))}`,
      json: { type: 'integer', enum: [...codes] },
      values: codes.map(String),
    },
  )
}

/** A number of bytes, or text with a unit; always below 4 GiB. */
export function byteSize(bounds: { min?: number; max?: number } = {}) {
  const { min, max } = { min: 1, max: 2 ** 32 - 1, ...bounds }
  const limits = min === 1 && max === 2 ** 32 - 1 ? 'below 4Gi' : `from ${min} to ${max} bytes`
  const text = { maxLength: 32, pattern: byteSizePattern }
  return scalar<number>(
    (input) => {
      const size = typeof input === 'string' ? (parseByteSize(input) ?? new Refusal('bad_format')) : input
      return size instanceof Refusal ? size : readNumber(size, { min, max }, Number.isSafeInteger)
    },
    {
      type: 'size',
      expected: `a size such as 65536, 16Ki or 2mb, ${limits}`,
      json: { type: ['integer', 'string'], minimum: min, maximum: max, ...text },
      crd: {
        'x-kubernetes-int-or-string': true,
        minimum: min,
        maximum: max,
        ...text,
        allOf: [lazyPattern(() => sizesFrom(min)), lazyPattern(() => sizesUpTo(max))],
      },
    },
  )
}

/** A pattern that only printed schemas need, so that a start does not build it. */
function lazyPattern(build: () => string): { readonly pattern: string } {
  return {
    get pattern() {
      return build()
    },
  }
}

function readNumber(input: unknown, range: { min: number; max: number }, isLegal: (value: number) => boolean) {
  if (typeof input !== 'number' || !isLegal(input)) return new Refusal('wrong_type')
  return input >= range.min && input <= range.max ? input : new Refusal('out_of_range')
}

function readSeconds(input: unknown): number | null {
  return typeof input === 'number' && Number.isSafeInteger(input) ? input * 1_000 : null
}

function printLength(min: number, max: number): string {
  return `text of ${min} to ${max} characters`
}

/** A hint to quote the value, because YAML reads `true` and `1` as a boolean and a number. */
export function quoteHint(input: unknown): string | null {
  return typeof input === 'number' || typeof input === 'boolean' ? `put it in quotes: "${String(input)}"` : null
}
