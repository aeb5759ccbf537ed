import OpenAI, { APIError, toFile } from 'openai'
import { type Job, MASK, type Outcome, PICTURES, SOUND, SOUND_NAME } from './call.ts'

/** The calls of OpenAI's library for JavaScript. */

type Call = (sdk: OpenAI, model: string) => Promise<unknown>

const images: Record<string, Call> = {
  async image(sdk, model) {
    const drawn = await sdk.images.generate({ model, prompt: 'a cat', n: 2, size: '1024x1024', user: 'ann' })
    return { images: drawn.data?.map((each) => each.b64_json), tokens: tokensOf(drawn.usage) }
  },
  async image_streamed(sdk, model) {
    const stream = await sdk.images.generate({ model, prompt: 'a cat', stream: true, partial_images: 1 })
    const events: unknown[] = []
    for await (const event of stream) events.push([event.type, event.b64_json])
    return events
  },
  image_unknown: (sdk, model) => sdk.images.generate({ model, prompt: 'a cat', ...ODD }),
  async edit(sdk, model) {
    const image = await Promise.all(PICTURES.map((bytes, at) => toFile(bytes, `${at}.png`)))
    const mask = await toFile(MASK, 'mask.png')
    const edited = await sdk.images.edit({ model, image, mask, prompt: 'a hat', quality: 'high', n: 1 })
    return { images: edited.data?.map((each) => each.b64_json), tokens: tokensOf(edited.usage) }
  },
  async edit_streamed(sdk, model) {
    const image = await toFile(PICTURES[0], '0.png')
    const stream = await sdk.images.edit({ model, image, prompt: 'a hat', stream: true, partial_images: 1 })
    const events: unknown[] = []
    for await (const event of stream) events.push([event.type, event.b64_json])
    return events
  },
  edit_unknown: async (sdk, model) =>
    sdk.images.edit({ model, image: await toFile(MASK, '0.png'), prompt: 'a hat', ...ODD }),
  async variation(sdk, model) {
    const image = await toFile(PICTURES[0], '0.png')
    const varied = await sdk.images.createVariation({ model, image, n: 2, response_format: 'b64_json' })
    return varied.data?.map((each) => each.b64_json)
  },
}

const audio: Record<string, Call> = {
  async speech(sdk, model) {
    const spoken = await sdk.audio.speech.create({ model, input: 'Grüezi 🎉', voice: 'alloy', speed: 1.5 })
    return Buffer.from(await spoken.arrayBuffer()).toString('base64')
  },
  async speech_events(sdk, model) {
    const settings = { model, voice: 'alloy', stream_format: 'sse', instructions: 'slowly' } as const
    const spoken = await sdk.audio.speech.create({ ...settings, input: 'Grüezi 🎉' })
    return [...(await spoken.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  },
  async transcription(sdk, model) {
    const file = await toFile(SOUND, SOUND_NAME)
    const { text } = await sdk.audio.transcriptions.create({ model, file, language: 'de', prompt: 'names' })
    return text
  },
  async transcription_verbose(sdk, model) {
    const file = await toFile(SOUND, SOUND_NAME)
    const { text, duration } = await sdk.audio.transcriptions.create({
      ...{ model, file, response_format: 'verbose_json', temperature: 0.5 },
      timestamp_granularities: ['word', 'segment'],
    })
    return [text, duration]
  },
  async transcription_captions(sdk, model) {
    const file = await toFile(SOUND, SOUND_NAME)
    return sdk.audio.transcriptions.create({ model, file, response_format: 'srt' })
  },
  async transcription_streamed(sdk, model) {
    const file = await toFile(SOUND, SOUND_NAME)
    const stream = await sdk.audio.transcriptions.create({ model, file, stream: true, include: ['logprobs'] })
    const texts: string[] = []
    for await (const event of stream) if (event.type === 'transcript.text.delta') texts.push(event.delta)
    return texts
  },
  transcription_unknown: async (sdk, model) =>
    sdk.audio.transcriptions.create({ model, file: await toFile(SOUND, SOUND_NAME), ...ODD }),
  async translation(sdk, model) {
    return (await sdk.audio.translations.create({ model, file: await toFile(SOUND, SOUND_NAME) })).text
  },
}

const others: Record<string, Call> = {
  async moderation(sdk, model) {
    const { results } = await sdk.moderations.create({ model, input: ['peace', 'violence'] })
    return results.map(({ flagged, categories, category_scores: scores }) => [
      ...[flagged, categories.violence, scores.violence],
    ])
  },
  async moderation_parts(sdk, model) {
    const input = [
      { type: 'text' as const, text: 'violence' },
      { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } },
    ]
    const { results } = await sdk.moderations.create({ model, input })
    return results.map(({ flagged }) => flagged)
  },
  moderation_unknown: (sdk, model) => sdk.moderations.create({ model, input: 'peace', ...ODD }),
  async batch(sdk, model) {
    const file = await upload(sdk, model)
    const created = await sdk.batches.create({
      ...{ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' },
      metadata: { team: 'red' },
    })
    const batch = await sdk.batches.retrieve(created.id)
    const results = await (await sdk.files.content(batch.output_file_id ?? '')).text()
    const canceled = await sdk.batches.cancel(batch.id)
    const { filename, purpose, expires_at: expires } = await sdk.files.retrieve(file.id)
    const { deleted } = await sdk.files.delete(file.id)
    return {
      statuses: [created.status, batch.status, canceled.status],
      ...{ counts: [batch.request_counts?.total, batch.request_counts?.completed], metadata: batch.metadata },
      ...{ filename, purpose, expires, deleted },
      answers: results.trim().split('\n').map(answerOf),
    }
  },
  async batch_unknown(sdk, model) {
    const { id } = await upload(sdk, model)
    return sdk.batches.create({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h', ...ODD })
  },
}

const ODD = { odd: 'member' }

async function upload(sdk: OpenAI, model: string): Promise<OpenAI.FileObject> {
  const messages = [{ role: 'user', content: 'scene: text' }]
  const lines = ['q0', 'q1'].map((custom_id) =>
    JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body: { model, messages } }),
  )
  return sdk.files.create({
    file: await toFile(Buffer.from(`${lines.join('\n')}\n`), 'requests.jsonl'),
    ...{ purpose: 'batch', expires_after: { anchor: 'created_at', seconds: 3600 } },
  })
}

function answerOf(line: string): unknown {
  const { custom_id, response } = JSON.parse(line) as {
    custom_id: string
    response: { body: OpenAI.ChatCompletion }
  }
  return [custom_id, response.body.choices[0]?.message.content]
}

function tokensOf(usage: { input_tokens: number; output_tokens: number } | undefined): unknown {
  return [usage?.input_tokens, usage?.output_tokens]
}

export async function callOpenai({ call, url, key, model }: Job): Promise<Outcome> {
  const sdk = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
  try {
    const run = images[call] ?? audio[call] ?? others[call]
    if (run === undefined) throw new Error(`no call ${call}`)
    return { value: await run(sdk, model) }
  } catch (error) {
    if (!(error instanceof APIError) || error.status === undefined) throw error
    const { message } = (error.error ?? {}) as { message?: string }
    return { error: { status: error.status as number, message: message ?? '' } }
  }
}
