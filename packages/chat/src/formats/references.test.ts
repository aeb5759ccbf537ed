import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FormatName, type JsonObject, UnsupportedField } from '../middle.ts'
import { clientFormats, upstreamFormats } from './index.ts'

/** Images and files that a request references by URL or id: they are forwarded, or the unsupported field is named. */

type Client = 'completions' | 'messages' | 'responses' | 'gemini'
interface Case {
  part: JsonObject
  field: string
  /** The formats that can follow the reference; all others refuse the request. */
  takenBy: readonly FormatName[]
}

const PNG = 'https://example.com/a.png'
const PDF = 'https://example.com/a.pdf'

const cases: Record<Client, Record<string, Case>> = {
  completions: {
    'an image by URL': {
      part: { type: 'image_url', image_url: { url: PNG } },
      field: 'messages[].content[].image_url',
      takenBy: ['completions', 'messages', 'responses'],
    },
    'a stored file': {
      part: { type: 'file', file: { file_id: 'file-1' } },
      field: 'messages[].content[].file.file_id',
      takenBy: ['completions', 'responses'],
    },
  },
  messages: {
    'an image by URL': {
      part: { type: 'image', source: { type: 'url', url: PNG } },
      field: 'messages[].content[].source',
      takenBy: ['completions', 'messages', 'responses'],
    },
    'a document by URL': {
      part: { type: 'document', source: { type: 'url', url: PDF } },
      field: 'messages[].content[].source',
      takenBy: ['messages', 'responses'],
    },
    'a stored image': {
      part: { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      field: 'messages[].content[].source.file_id',
      takenBy: ['messages'],
    },
    'a stored document': {
      part: { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      field: 'messages[].content[].source.file_id',
      takenBy: ['messages'],
    },
    'a stored image in the result of a tool': {
      part: {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
      },
      field: 'messages[].content[].source.file_id',
      takenBy: ['messages'],
    },
  },
  responses: {
    'an image by URL': {
      part: { type: 'input_image', image_url: PNG, detail: 'auto' },
      field: 'input[].content[].image_url',
      takenBy: ['completions', 'messages', 'responses'],
    },
    'a file by URL': {
      part: { type: 'input_file', file_url: PDF },
      field: 'input[].content[].file_url',
      takenBy: ['messages', 'responses'],
    },
    'a stored image': {
      part: { type: 'input_image', file_id: 'file-1', detail: 'auto' },
      field: 'input[].content[].file_id',
      takenBy: ['responses'],
    },
    'a stored file': {
      part: { type: 'input_file', file_id: 'file-1' },
      field: 'input[].content[].file_id',
      takenBy: ['responses'],
    },
  },
  gemini: {
    'an image by URL': {
      part: { fileData: { fileUri: PNG, mimeType: 'image/png' } },
      field: 'contents[].parts[].fileData',
      takenBy: ['completions', 'messages', 'responses', 'gemini'],
    },
    'a file by URL': {
      part: { fileData: { fileUri: PDF, mimeType: 'application/pdf' } },
      field: 'contents[].parts[].fileData',
      takenBy: ['messages', 'responses', 'gemini'],
    },
    'a file in the storage of Google': {
      part: { file_data: { file_uri: 'gs://bucket/a.pdf', mime_type: 'application/pdf' } },
      field: 'contents[].parts[].fileData',
      takenBy: ['gemini'],
    },
    'an image that the client uploaded to Google': {
      part: {
        fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a', mimeType: 'image/png' },
      },
      field: 'contents[].parts[].fileData',
      takenBy: ['gemini'],
    },
  },
}

const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }

for (const client of ['completions', 'messages', 'responses', 'gemini'] as const) {
  for (const [name, upstream] of Object.entries(upstreamFormats)) {
    describe(`${client} to ${name}`, () => {
      for (const [what, { part, field, takenBy }] of Object.entries(cases[client])) {
        it(what, () => {
          assert.equal(fieldRefused(part, []), takenBy.includes(upstream.name) ? null : field)
        })

        if (upstream.name !== 'messages') continue
        it(`${what}, to who takes bytes only`, () => {
          assert.equal(fieldRefused(part, ['bytesOnly']), field)
        })
      }

      function fieldRefused(part: JsonObject, quirks: string[]): string | null {
        const turn = { role: 'user', content: [part] }
        const before = client === 'messages' ? [{ role: 'assistant', content: [call] }] : []
        const body: JsonObject =
          client === 'responses'
            ? { input: [turn] }
            : client === 'gemini'
              ? { contents: [{ role: 'user', parts: [part] }] }
              : { max_tokens: 9, messages: [...before, turn] }
        const request = clientFormats[client].decodeRequest({ model: 'm', ...body })
        assert.ok(!(request instanceof UnsupportedField), request instanceof UnsupportedField ? request.message : '')
        const target = { model: 'm', quirks: new Set(quirks), toolNames: new Map<string, string>() }
        const encoded = upstream.encodeRequest(request, target, [])
        return encoded instanceof UnsupportedField ? encoded.field : null
      }
    })
  }
}
