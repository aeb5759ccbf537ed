import { isDeepStrictEqual } from 'node:util'
import { type Answer, type AnswerPart, type AnswerUsage, type FailureKind, invalid, VendorRefusal } from './answer.ts'
import { type ParsedRequest, type ParsedPart, textsOf } from './parsed-request.ts'

/**
 * The scripted conversations. The first user message names the scene (`scene: tool`), so that one fake plays all of them
 * at once. A scene refuses what did not arrive as the client meant it: an answer is the proof that it did.
 */
export function play(asked: ParsedRequest): Answer {
  const name = sceneOf(asked)
  const scene = Object.hasOwn(scenes, name) ? scenes[name] : undefined
  if (scene === undefined) throw invalid(`there is no scene ${name}`)
  return scene(asked)
}

export const CALLS = {
  weather: { type: 'call', id: 'w1', name: 'get_weather', arguments: '{"city":"Zürich","days":2}' },
  clock: { type: 'call', id: 't2', name: 'get_time', arguments: '{"zone":"Europe/Zurich","as":"24h \\"short\\""}' },
} as const

export const TOOLS = {
  get_weather: {
    description: 'The weather of a city',
    schema: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
  get_time: {
    description: 'What time it is',
    schema: {
      type: 'object',
      properties: { zone: { type: 'string' }, as: { type: 'string' } },
      required: ['zone'],
      additionalProperties: false,
    },
  },
}

export const PERSON_SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}

/** One red pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

export const ANSWERS = {
  text: ['The answer', ' is 42', '. Grüße', ' ☃ 🎉!'],
  weather: ['Let me ', 'look.'],
  image: ['A red ', 'pixel.'],
  reasoning: ['Two and two', ' are four.'],
  reasoned: ['It is ', '4.'],
  person: ['{"name":"Ada",', '"age":36}'],
  long: ['Once upon', ' a'],
  refusal: ['I cannot ', 'help with that.'],
}

export const USAGE: AnswerUsage = { input: 120, cacheRead: 64, cacheWrite: 0, output: 40, reasoning: 0 }
export const REASONING_USAGE: AnswerUsage = { ...USAGE, reasoning: 12 }
export const CACHE_WRITE_USAGE: AnswerUsage = { ...USAGE, cacheWrite: 32 }

const scenes: Record<string, (asked: ParsedRequest) => Answer> = {
  text: () => answer([text(ANSWERS.text)]),

  system: ({ system }) => answer([text([`Told: ${system}`])]),

  settings: ({ settings }) => answer([text([JSON.stringify(settings)])]),

  tool(asked) {
    expectTools(asked, ['get_weather'])
    return resultsOf(asked).length === 0 ? calling([CALLS.weather]) : told(asked, [CALLS.weather])
  },

  parallel(asked) {
    expectTools(asked, ['get_weather', 'get_time'])
    if (resultsOf(asked).length > 0) return told(asked, [CALLS.weather, CALLS.clock])
    return calling([text(ANSWERS.weather), CALLS.weather, CALLS.clock])
  },

  forced(asked) {
    expectTools(asked, ['get_weather', 'get_time'])
    if (!isDeepStrictEqual(asked.toolChoice, { name: 'get_weather' })) {
      throw invalid(`the choice of tool is ${JSON.stringify(asked.toolChoice)}`)
    }
    return calling([CALLS.weather])
  },

  image(asked) {
    const image = asked.turns[0]?.parts.find((part) => part.type === 'image')
    if (image?.mediaType !== 'image/png' || image.data !== PNG) throw invalid('no image of a red pixel arrived')
    return answer([text(ANSWERS.image)])
  },

  'image-url'(asked) {
    const image = asked.turns[0]?.parts.find((part) => part.type === 'imageUrl')
    if (image?.url !== IMAGE_URL) throw invalid('no address of an image arrived')
    return answer([text(ANSWERS.image)])
  },

  reasoning(asked) {
    expectReasoning(asked)
    const reasoning: AnswerPart[] = [{ type: 'reasoning', pieces: ANSWERS.reasoning }]
    if (asked.turns.length === 1) return { ...answer([...reasoning, text(ANSWERS.reasoned)]), usage: REASONING_USAGE }
    return answer([text([`Signed reasoning came back: ${hasSignedReasoning(asked)}`])])
  },

  'reasoning-tool'(asked) {
    expectTools(asked, ['get_weather'])
    // Clients that do not hand the reasoning back may go on without any.
    if (resultsOf(asked).length > 0) return told(asked, [CALLS.weather])
    expectReasoning(asked)
    return { ...calling([{ type: 'reasoning', pieces: ANSWERS.reasoning }, CALLS.weather]), usage: REASONING_USAGE }
  },

  structured({ schema, tools, system }) {
    if (hasProperties(schema, PERSON_SCHEMA)) return answer([text(ANSWERS.person)])
    // Models that cannot be held to a schema can be asked for it in words.
    if (system.split('\n').some((line) => hasProperties(parsed(line), PERSON_SCHEMA))) {
      return answer([text(ANSWERS.person)])
    }
    // Some libraries ask for a call of a tool in its place.
    const tool = tools.find((tool) => hasProperties(tool.schema, PERSON_SCHEMA))
    if (tool === undefined) throw invalid(`the schema is ${JSON.stringify(schema)}`)
    return calling([{ type: 'call', id: 's3', name: tool.name, arguments: ANSWERS.person.join('') }])
  },

  length: () => ({ ...answer([text(ANSWERS.long)]), finish: 'length' }),

  stop({ settings }) {
    if (!settings.stop.includes('END')) throw invalid(`the stop sequences are ${JSON.stringify(settings.stop)}`)
    return { ...answer([text(ANSWERS.long)]), finish: 'stopSequence', stopSequence: 'END' }
  },

  refusal: () => ({ ...answer([{ type: 'refusal', pieces: ANSWERS.refusal }]) }),

  filtered: () => ({ ...answer([text(ANSWERS.long)]), finish: 'filtered' }),

  cache: () => ({ ...answer([text(ANSWERS.text)]), usage: CACHE_WRITE_USAGE }),

  broken: () => ({
    ...answer([text(ANSWERS.text)]),
    failure: { kind: 'overloaded', message: 'Too much to do right now' },
  }),

  ...Object.fromEntries(
    (
      [
        'invalid',
        'authentication',
        'permission',
        'notFound',
        'tooLarge',
        'rateLimit',
        'server',
        'unavailable',
        'overloaded',
      ] satisfies FailureKind[]
    ).map((kind) => [`error-${kind}`, () => fail(kind)]),
  ),

  'error-rateLimit-retry': () => fail('rateLimit', 7),
}

export const IMAGE_URL = 'https://example.com/red.png'

/** The error message of a failure of this kind, in every format. */
export function failureMessage(kind: FailureKind): string {
  return `This is a rehearsed ${kind} failure`
}

/** The text of the second answer when every tool result arrived with the right id. */
export function toldText(results: readonly string[]): string {
  return `Heard: ${results.join(', ')}`
}

function sceneOf(asked: ParsedRequest): string {
  return /\bscene: ([\w-]+)/.exec(textsOf(asked.turns[0]))?.[1] ?? 'text'
}

function answer(parts: AnswerPart[]): Answer {
  return { parts, finish: 'stop', usage: USAGE }
}

function calling(parts: AnswerPart[]): Answer {
  return { parts, finish: 'toolCalls', usage: USAGE }
}

function text(pieces: string[]): AnswerPart {
  return { type: 'text', pieces }
}

function fail(kind: FailureKind, retryAfter?: number): never {
  throw new VendorRefusal({ kind, message: failureMessage(kind), ...(retryAfter !== undefined && { retryAfter }) })
}

function expectTools(asked: ParsedRequest, names: (keyof typeof TOOLS)[]): void {
  for (const name of names) {
    const tool = asked.tools.find((tool) => tool.name === name)
    const { description, schema } = TOOLS[name]
    if (tool?.description !== description || !hasProperties(tool.schema, schema)) {
      throw invalid(`the tool ${name} is ${JSON.stringify(tool ?? null)}`)
    }
  }
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Providers keep other words of JSON Schema than clients wrote; what an object is made of must be the same. */
function hasProperties(schema: object | null, wanted: { properties: object; required: string[] }): boolean {
  if (schema === null || !('properties' in schema) || !('required' in schema)) return false
  return isDeepStrictEqual([schema.properties, schema.required], [wanted.properties, wanted.required])
}

function expectReasoning(asked: ParsedRequest): void {
  if (asked.reasoning === null) throw invalid('no reasoning was asked for')
}

function hasSignedReasoning(asked: ParsedRequest): boolean {
  return asked.turns[1]?.parts.some((part) => part.type === 'reasoning' && part.isSigned) ?? false
}

function resultsOf(asked: ParsedRequest): Extract<ParsedPart, { type: 'result' }>[] {
  return (asked.turns.at(-1)?.parts ?? []).filter((part) => part.type === 'result')
}

/** The calls came back as they were made, and each has its result. */
function told(asked: ParsedRequest, calls: readonly { name: string; arguments: string }[]): Answer {
  const made = (asked.turns.at(-2)?.parts ?? []).filter((part) => part.type === 'call')
  const results = resultsOf(asked)
  const texts = calls.map((call, at) => {
    const found = made[at]
    if (found?.name !== call.name || !isDeepStrictEqual(found.arguments, JSON.parse(call.arguments))) {
      throw invalid(`call ${at} came back as ${JSON.stringify(found ?? null)}`)
    }
    // Gemini has no ids: its results follow the order of the calls, by name.
    const result = found.id === null ? results[at] : results.find(({ id }) => id === found.id)
    if (result === undefined || (result.name !== null && result.name !== call.name)) {
      throw invalid(`call ${at} has no result in ${JSON.stringify(results)}`)
    }
    return result.isError ? `failed (${result.text})` : result.text
  })
  if (results.length !== calls.length) throw invalid(`${results.length} results came`)
  return answer([text([toldText(texts)])])
}
