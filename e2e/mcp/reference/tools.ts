import { setTimeout as delay } from 'node:timers/promises'
import { elicitationTools } from './elicitation-tools.ts'
import { inputTools } from './input-tools.ts'
import { PNG, type ReferenceTool, text, WAV } from './item.ts'
import { taskTools } from './task-tools.ts'

/** Tools that the scenarios of the conformance suite call by name, and a few for the other suites. */
const plainTools: ReferenceTool[] = [
  {
    name: 'test_simple_text',
    description: 'Gives a text.',
    call: () => text('This is a simple text response for testing.'),
  },
  {
    name: 'test_image_content',
    description: 'Gives an image.',
    call: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  },
  {
    name: 'test_audio_content',
    description: 'Gives audio.',
    call: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Gives a resource within the result.',
    call: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Gives text, an image and a resource.',
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: JSON.stringify({ test: 'data', value: 123 }),
          },
        },
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails.',
    call: () => ({ isError: true, ...text('This tool intentionally returns an error for testing') }),
  },
  {
    name: 'test_tool_with_logging',
    description: 'Writes three lines of log while it works.',
    async call(_, { ctx }) {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.log('info', line)
        await delay(50)
      }
      return text('logged')
    },
  },
  {
    name: 'test_logging_tool',
    description: 'Writes a line of log, which goes out only to clients that asked for it.',
    async call(_, { ctx }) {
      await ctx.mcpReq.log('info', 'nobody may have asked')
      return text('logged')
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Reports progress three times.',
    async call(_, { ctx }) {
      const progressToken = ctx.mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await ctx.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        }
        await delay(50)
      }
      return text('done')
    },
  },
  {
    name: 'test_reconnection',
    description: 'Lets go of the stream in the middle of the call; the answer waits for whoever comes back.',
    async call(_, { ctx }) {
      await delay(50)
      ctx.http?.closeSSE?.()
      await delay(100)
      return text('answered after the stream was closed')
    },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: () => text('valid'),
  },
  {
    name: 'test_custom_header',
    description: 'Has a parameter that clients repeat in a header.',
    input: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      required: ['region'],
    },
    call: ({ region }) => text(`region ${String(region)}`),
  },
  {
    name: 'test_trigger_tool_change',
    description: 'Says that the list of tools changed.',
    call(_, { changed }) {
      changed.toolsChanged()
      return text('told')
    },
  },
  {
    name: 'test_trigger_prompt_change',
    description: 'Says that the list of prompts changed.',
    call(_, { changed }) {
      changed.promptsChanged()
      return text('told')
    },
  },
  {
    name: 'touch_resource',
    description: 'Says that a resource changed.',
    input: { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] },
    call({ uri }, { changed }) {
      changed.resourceUpdated(String(uri))
      return text('told')
    },
  },
  {
    name: 'echo',
    description: 'Gives back what it was given.',
    input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    call: ({ message }) => text(String(message)),
  },
  {
    name: 'wait',
    description: 'Tells that it has begun, and waits until nobody wants its answer any more.',
    async call(_, { ctx }) {
      const { signal, _meta } = ctx.mcpReq
      if (_meta?.progressToken !== undefined) {
        const params = { progressToken: _meta.progressToken, progress: 1 }
        await ctx.mcpReq.notify({ method: 'notifications/progress', params })
      }
      await delay(60_000, undefined, { signal }).catch(() => {})
      return text('nobody waits')
    },
  },
  {
    name: 'count_calls',
    description: 'Counts its calls within the session.',
    call: (_, { count }) => text(String(count)),
  },
  {
    name: 'link_resource',
    description: 'Gives a link to a resource.',
    call: () => ({ content: [{ type: 'resource_link', uri: 'test://static-text', name: 'static-text' }] }),
  },
]

export const tools: readonly ReferenceTool[] = [...plainTools, ...elicitationTools, ...inputTools, ...taskTools]
