import { isObject } from '@portico/http/json'
import { fileData } from '../../../texts/request-files.ts'
import {
  anything,
  list,
  nested,
  object,
  plain,
  type Reading,
  saidBy,
  schema,
  settings,
  text,
  type TextRole,
  unexamined,
  unread,
} from '../../../texts/request-texts.ts'
import { inSnakeCase } from './spelling.ts'

/** The members of a Gemini request that contain text for the model, in both spellings of their names. */

/** A list, or its only item. */
function oneOrList(reading: Reading): Reading {
  const all = list(reading)
  return (value, at) => (isObject(value) ? reading(value, at) : all(value, at))
}

function bothSpellings(members: Readonly<Record<string, Reading>>): Record<string, Reading> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, reading]) => [
      [name, reading],
      [inSnakeCase(name), reading],
    ]),
  )
}

/** An object that contains bytes or the address of a file, by its media type. */
function media(members: Readonly<Record<string, Reading>>, hasBytes: boolean): Reading {
  return (value, at) => {
    if (!isObject(value)) return anything(value, at)
    const type = value.mimeType ?? value.mime_type
    const mediaType = typeof type === 'string' ? type.toLowerCase() : ''
    const kind = mediaType.startsWith('image/') ? 'Image' : mediaType.startsWith('audio/') ? 'Audio' : 'File'
    const bytes: Reading = (data, place) => {
      if (kind !== 'File' || !hasBytes || typeof data !== 'string') return unexamined(kind)(data, place)
      return fileData(data, mediaType, place)
    }
    return object(bothSpellings({ ...members, mimeType: settings, displayName: text, data: bytes, fileUri: bytes }))(
      value,
      at,
    )
  }
}

const inlineData = media({}, true)
const fileReference = media({}, false)

/** Members of a part that are its content. */
const contents: Readonly<Record<string, Reading>> = {
  text,
  inlineData,
  fileData: fileReference,
  functionCall: object(
    bothSpellings({ id: plain, name: settings, args: anything, partialArgs: nested, willContinue: plain }),
  ),
  functionResponse: saidBy(
    'tool',
    object(
      bothSpellings({
        id: plain,
        name: settings,
        response: anything,
        parts: oneOrList(object(bothSpellings({ inlineData, fileData: fileReference, mediaProcessing: settings }))),
        scheduling: settings,
        willContinue: plain,
      }),
    ),
  ),
  executableCode: object({ id: plain, language: settings, code: text }),
  codeExecutionResult: saidBy('tool', object({ id: plain, outcome: settings, output: text })),
  toolCall: nested,
  toolResponse: saidBy('tool', nested),
  audioTranscription: nested,
}

/** Every member of a part in the installed SDK. */
export const partMembers: Readonly<Record<string, Reading>> = {
  ...contents,
  thought: plain,
  thoughtSignature: unread,
  videoMetadata: settings,
  mediaResolution: settings,
  partMetadata: nested,
  mediaProcessing: settings,
  speechMetadata: settings,
}

const knownMembers = bothSpellings(partMembers)
const knownPart = object(knownMembers)

/** A member that guards do not know is examined as JSON, and reported. A signature is invalid once its text is masked. */
const part: Reading = (value, at) => {
  if (isObject(value) && Object.keys(value).some((name) => !Object.hasOwn(knownMembers, name))) {
    at.visitor.unexamined('Unknown', at.path)
  }
  const after = knownPart(value, at)
  if (!isObject(value) || !isObject(after) || after.text === value.text) return after
  const { thoughtSignature: _signature, thought_signature: _other, ...unsigned } = after
  return unsigned
}

const contentMembers = object({ role: settings, parts: oneOrList(part) })

/** A content of a conversation. */
export const contentTexts: Reading = (value, at) =>
  contentMembers(value, { ...at, role: isObject(value) ? roleOf(value.role) : 'user' })

function roleOf(role: unknown): TextRole {
  if (role === 'function') return 'tool'
  return role === 'model' ? 'assistant' : 'user'
}

const instruction: Reading = saidBy('system', (value, at) =>
  typeof value === 'string' ? text(value, at) : contentMembers(value, at),
)

const declaration = object(
  bothSpellings({
    name: settings,
    description: text,
    parameters: schema,
    parametersJsonSchema: schema,
    response: schema,
    responseJsonSchema: schema,
    behavior: settings,
  }),
)

const tool = object(
  bothSpellings({
    functionDeclarations: oneOrList(declaration),
    googleSearch: nested,
    googleSearchRetrieval: settings,
    codeExecution: settings,
    urlContext: settings,
    computerUse: nested,
    fileSearch: nested,
    retrieval: nested,
    googleMaps: settings,
    enterpriseWebSearch: nested,
    // Guards do not read tokens for the MCP servers that the provider calls.
    mcpServers: unread,
  }),
)

const config = object(
  bothSpellings({
    responseSchema: schema,
    responseJsonSchema: schema,
    responseMimeType: settings,
    stopSequences: unread,
    thinkingConfig: settings,
    speechConfig: settings,
    responseModalities: settings,
    imageConfig: settings,
    mediaResolution: settings,
    ...{ maxOutputTokens: plain, temperature: plain, topP: plain, topK: plain, seed: plain, candidateCount: plain },
    ...{ frequencyPenalty: plain, presencePenalty: plain, logprobs: plain, responseLogprobs: plain },
    ...{ routingConfig: settings, modelSelectionConfig: settings, audioTimestamp: plain },
  }),
)

export const geminiRequest: Reading = object(
  bothSpellings({
    model: plain,
    systemInstruction: instruction,
    contents: oneOrList(contentTexts),
    tools: saidBy('system', oneOrList(tool)),
    toolConfig: settings,
    generationConfig: saidBy('system', config),
    safetySettings: settings,
    modelArmorConfig: settings,
    cachedContent: unexamined('Stored'),
    continuationToken: unexamined('Stored'),
    labels: unread,
    serviceTier: settings,
    store: plain,
    stream: plain,
  }),
)
