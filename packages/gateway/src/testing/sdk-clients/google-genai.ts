import {
  ApiError,
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import { PNG, TOOLS } from '../providers/scenes.ts'
import {
  type Endpoint,
  type FollowUp,
  type SdkReply,
  promptOf,
  type Question,
  type SdkClient,
  SdkFailure,
} from './client.ts'

export function googleGenaiClient({ url, key }: Endpoint): SdkClient {
  return googleGenaiClientOf('google genai', new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } }))
}

export function googleGenaiClientOf(name: string, sdk: GoogleGenAI): SdkClient {
  return { name, ask: (question) => ask(sdk, question, [openingOf(question)]) }
}

async function ask(sdk: GoogleGenAI, question: Question, contents: Content[]): Promise<SdkReply> {
  const request = { model: question.model, contents, config: configOf(question) }
  const replies = await googleFailure(() =>
    question.streamed ? streamed(sdk, request) : sdk.models.generateContent(request).then((reply) => [reply]),
  )
  const parts = replies.flatMap((reply) => reply.candidates?.[0]?.content?.parts ?? [])
  const calls = parts.flatMap((part) => (part.functionCall === undefined ? [] : [part.functionCall]))
  const usage = replies.at(-1)?.usageMetadata
  return {
    text: joinTexts(parts, false),
    refusal: '',
    reasoning: joinTexts(parts, true),
    calls: calls.map((call) => ({ id: call.id ?? '', name: call.name ?? '', arguments: call.args })),
    finish: replies.at(-1)?.candidates?.[0]?.finishReason ?? '',
    usage: {
      input: usage?.promptTokenCount ?? null,
      output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
      cacheRead: usage?.cachedContentTokenCount ?? null,
      cacheWrite: null,
      reasoning: usage?.thoughtsTokenCount ?? null,
    },
    follow: (next) => ask(sdk, question, [...contents, { role: 'model', parts }, followed(next, calls)]),
  }
}

async function streamed(
  sdk: GoogleGenAI,
  request: { model: string; contents: Content[]; config: GenerateContentConfig },
): Promise<GenerateContentResponse[]> {
  const replies: GenerateContentResponse[] = []
  for await (const reply of await sdk.models.generateContentStream(request)) replies.push(reply)
  return replies
}

async function googleFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(error.message)?.[1] ?? error.message
    throw new SdkFailure(message, error.status)
  }
}

function joinTexts(parts: Part[], isThought: boolean): string {
  return parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? '') : '')).join('')
}

function openingOf(question: Question): Content {
  const image = question.image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: PNG } }]
  return { role: 'user', parts: [{ text: promptOf(question) }, ...image] }
}

function followed(next: FollowUp, calls: { name?: string }[]): Content {
  if ('text' in next) return { role: 'user', parts: [{ text: next.text }] }
  return {
    role: 'user',
    parts: next.results.map((output, at) => ({
      functionResponse: { name: calls[at]?.name ?? '', response: { output } },
    })),
  }
}

function configOf(question: Question): GenerateContentConfig {
  const { force, schema } = question
  const isNew = question.model.startsWith('gemini-3')
  return {
    ...(question.system !== undefined && { systemInstruction: question.system }),
    ...(question.maxTokens !== undefined && { maxOutputTokens: question.maxTokens }),
    ...(question.temperature !== undefined && { temperature: question.temperature }),
    ...(question.topP !== undefined && { topP: question.topP }),
    ...(question.stop !== undefined && { stopSequences: question.stop }),
    ...(question.reasons && {
      thinkingConfig: { includeThoughts: true, ...(isNew ? {} : { thinkingBudget: 1024 }) },
    }),
    ...(question.tools !== undefined && {
      tools: [
        {
          functionDeclarations: question.tools.map((name) => ({
            name,
            description: TOOLS[name].description,
            parametersJsonSchema: TOOLS[name].schema,
          })),
        },
      ],
    }),
    ...(force !== undefined && {
      toolConfig: {
        functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [force] },
      } as GenerateContentConfig['toolConfig'],
    }),
    ...(schema !== undefined && { responseMimeType: 'application/json', responseJsonSchema: schema }),
  }
}
