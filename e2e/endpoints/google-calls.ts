import { ApiError, GoogleGenAI } from '@google/genai'
import type { Job, Outcome } from './call.ts'

/** The calls of Google's library for JavaScript. */

const calls: Record<string, (sdk: GoogleGenAI, model: string) => Promise<unknown>> = {
  async generate(sdk, model) {
    const config = { systemInstruction: 'Be brief.', temperature: 0.5, maxOutputTokens: 50 }
    const answer = await sdk.models.generateContent({ model, contents: 'scene: system', config })
    const { promptTokenCount, candidatesTokenCount } = answer.usageMetadata ?? {}
    return { text: answer.text, tokens: [promptTokenCount, candidatesTokenCount] }
  },
  async generate_streamed(sdk, model) {
    let text = ''
    for await (const chunk of await sdk.models.generateContentStream({ model, contents: 'scene: text' })) {
      text += chunk.text ?? ''
    }
    return text
  },
  async generate_unknown(sdk, model) {
    const config = { httpOptions: { extraBody: { odd: 'member' } } }
    return (await sdk.models.generateContent({ model, contents: 'scene: text', config })).text
  },
  generate_failed: async (sdk, model) =>
    (await sdk.models.generateContent({ model, contents: 'scene: error-permission' })).text,
  async count(sdk, model) {
    const { totalTokens } = await sdk.models.countTokens({ model, contents: 'How many tokens are these?' })
    return (totalTokens ?? 0) > 3 && (totalTokens ?? 0) < 100
  },
  async embed(sdk, model) {
    const config = { outputDimensionality: 6 }
    const { embeddings } = await sdk.models.embedContent({ model, contents: ['one text', 'another'], config })
    return embeddings?.map(({ values }) => values)
  },
  async embed_settings(sdk, model) {
    const config = { taskType: 'RETRIEVAL_DOCUMENT', title: 'One' }
    const { embeddings } = await sdk.models.embedContent({ model, contents: 'one text', config })
    return embeddings?.map(({ values }) => values)
  },
  async embed_unknown(sdk, model) {
    const config = { httpOptions: { extraBody: { odd: 'member' } } }
    return (await sdk.models.embedContent({ model, contents: 'one text', config })).embeddings?.length
  },
}

export async function callGoogle({ call, url, key, model }: Job): Promise<Outcome> {
  const sdk = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
  try {
    const run = calls[call]
    if (run === undefined) throw new Error(`no call ${call}`)
    return { value: await run(sdk, model) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { error: inner } = JSON.parse(error.message) as { error: { message: string } }
    return { error: { status: error.status, message: inner.message } }
  }
}
