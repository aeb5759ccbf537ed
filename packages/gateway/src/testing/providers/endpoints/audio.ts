import { z } from 'zod'
import { check } from '../check.ts'
import { openaiComplaints } from '../formats/completions-request.ts'
import { type FakeReply, type FakeRequest, json, sse } from '../reply.ts'
import { typedFrame } from '../sse.ts'
import { onlyFile, readForm } from './form.ts'

const SPEECH_USAGE = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
const TRANSCRIPT_USAGE = {
  ...{ type: 'tokens', input_tokens: 30, output_tokens: 20, total_tokens: 50 },
  input_token_details: { text_tokens: 2, audio_tokens: 28 },
}
export const SECONDS = 9

/** The sound that the fake makes of a text. */
export function soundOf(input: string): Buffer {
  return Buffer.concat([Buffer.from([0xff, 0xf3, 0, 1]), Buffer.from(input)])
}

/** The words of a transcript: the number of bytes of the file, so that a text is the proof of its arrival. */
export function transcriptOf(file: Buffer): string {
  return `a sound of ${file.length} bytes`
}

export function audioReply(request: FakeRequest, endpoint: string): FakeReply | null {
  switch (endpoint) {
    case 'audio/speech': {
      const asked = check(speechSchema, request.body, openaiComplaints)
      return asked.stream_format === 'sse' ? speechEvents(soundOf(asked.input)) : spoken(soundOf(asked.input))
    }
    case 'audio/transcriptions':
      return transcribed(request)
    case 'audio/translations': {
      const form = readForm(request)
      check(translationSchema, form.fields, openaiComplaints)
      return json({ text: transcriptOf(onlyFile(form, 'file')) })
    }
    default:
      return null
  }
}

function spoken(sound: Buffer): FakeReply {
  return { status: 200, headers: { 'content-type': 'audio/mpeg' }, frames: [sound.subarray(0, 3), sound.subarray(3)] }
}

function speechEvents(sound: Buffer): FakeReply {
  return sse([
    typedFrame({ type: 'speech.audio.delta', audio: sound.toString('base64') }),
    typedFrame({ type: 'speech.audio.done', usage: SPEECH_USAGE }),
  ])
}

function transcribed(request: FakeRequest): FakeReply {
  const form = readForm(request)
  const { stream, response_format: format } = check(transcriptionSchema, form.fields, openaiComplaints)
  const text = transcriptOf(onlyFile(form, 'file'))
  if (stream === 'true') {
    return sse([
      ...text.split(/(?<= )/).map((delta) => typedFrame({ type: 'transcript.text.delta', delta })),
      typedFrame({ type: 'transcript.text.done', text, usage: TRANSCRIPT_USAGE }),
    ])
  }
  switch (format) {
    case 'srt':
      return plain(`1\n00:00:00,000 --> 00:00:0${SECONDS},000\n${text}\n\n`)
    case 'text':
      return plain(`${text}\n`)
    case 'verbose_json':
      return json({ task: 'transcribe', language: 'english', duration: SECONDS, text, segments: [], words: [] })
    case 'json':
    case undefined:
      return json({ text, usage: { type: 'duration', seconds: SECONDS } })
  }
}

function plain(text: string): FakeReply {
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, frames: [Buffer.from(text)] }
}

const speechSchema = z.strictObject({
  model: z.string().min(1),
  input: z.string().min(1),
  voice: z.union([z.string(), z.strictObject({ id: z.string() })]),
  instructions: z.string().optional(),
  response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']).optional(),
  speed: z.number().optional(),
  stream_format: z.enum(['sse', 'audio']).optional(),
})
const common = {
  model: z.string().min(1),
  prompt: z.string().optional(),
  temperature: z.string().optional(),
}
const transcriptionSchema = z.strictObject({
  ...common,
  language: z.string().optional(),
  response_format: z.enum(['json', 'text', 'srt', 'verbose_json']).optional(),
  stream: z.enum(['true', 'false']).optional(),
  'include[]': z.array(z.literal('logprobs')).optional(),
  'timestamp_granularities[]': z.array(z.enum(['word', 'segment'])).optional(),
  chunking_strategy: z.literal('auto').optional(),
})
const translationSchema = z.strictObject({ ...common, response_format: z.literal('json').optional() })
