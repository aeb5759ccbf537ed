import type { CreateMessageRequestParams, ElicitRequestFormParams, ServerContext } from '@modelcontextprotocol/server'
import { type ReferenceTool, text } from './item.ts'

/** Tools that ask the client in the middle of a call, as revisions with sessions do. */
export const elicitationTools: ReferenceTool[] = [
  {
    name: 'test_sampling',
    description: "Asks the client's model.",
    input: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async call({ prompt }, { ctx }) {
      const answer = await sample(ctx, {
        messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
        maxTokens: 100,
      })
      return text(`LLM response: ${JSON.stringify(answer.content)}`)
    },
  },
  {
    name: 'test_elicitation',
    description: 'Asks the user for a name and an address.',
    input: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    async call({ message }, { ctx }) {
      const answer = await elicit(ctx, {
        message: String(message),
        requestedSchema: {
          type: 'object',
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        },
      })
      return text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    },
  },
  {
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks for values that have defaults.',
    async call(_, { ctx }) {
      const answer = await elicit(ctx, {
        message: 'Please review the defaults',
        requestedSchema: {
          type: 'object',
          properties: {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
        },
      })
      return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    },
  },
  {
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks for choices in all the forms there are.',
    async call(_, { ctx }) {
      const answer = await elicit(ctx, {
        message: 'Please choose',
        requestedSchema: {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
            titledSingle: { type: 'string', oneOf: titled('Option') },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
            titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
          },
        },
      })
      return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    },
  },
  {
    name: 'list_roots',
    description: 'Asks for the roots of the client.',
    async call(_, { ctx }) {
      const answer = await ctx.mcpReq.send({ method: 'roots/list' })
      return text(answer.roots.map(({ uri }) => uri).join(' '))
    },
  },
]

// Sent as part of the call, so that the question comes on the stream of the call and not on a stream that may not be open.
function elicit(ctx: ServerContext, params: ElicitRequestFormParams) {
  return ctx.mcpReq.send({ method: 'elicitation/create', params })
}

function sample(ctx: ServerContext, params: CreateMessageRequestParams) {
  return ctx.mcpReq.send({ method: 'sampling/createMessage', params })
}

function titled(word: string) {
  return ['First', 'Second', 'Third'].map((rank, index) => ({ const: `value${index + 1}`, title: `${rank} ${word}` }))
}
