import type { ClientFormat } from '../format.ts'
import { gemini } from '../formats/gemini/index.ts'
import { completions } from '../formats/completions/index.ts'
import { messages } from '../formats/messages/index.ts'
import { responses } from '../formats/responses/index.ts'
import { type Json, type JsonObject, objectAt, objectsAt, parseJsonObject, textAt } from '@portico/http/json'

/** Clients that run tools as agents do: they send back what they got, with the results behind it. */
export interface ChatClient {
  format: ClientFormat
  /** Asks with one tool, and for reasoning. */
  ask(question: string, tool: string): JsonObject
  /** The same with the answer behind it, and one result for each call in it. */
  goOn(asked: JsonObject, answer: JsonObject, result: string): JsonObject
}

const schema = { type: 'object', properties: { city: { type: 'string' } } }

export const chatClients: ChatClient[] = [
  {
    format: completions,
    ask: (question, name) => ({
      model: 'm',
      max_tokens: 9000,
      reasoning_effort: 'low',
      messages: [{ role: 'user', content: question }],
      tools: [{ type: 'function', function: { name, parameters: schema } }],
    }),
    goOn(asked, answer, content) {
      const message = objectAt(objectsAt(answer, 'choices')[0] ?? {}, 'message')
      const results = objectsAt(message, 'tool_calls').map(({ id = '' }) => ({
        role: 'tool',
        tool_call_id: id,
        content,
      }))
      return { ...asked, messages: [...listAt(asked, 'messages'), message, ...results] }
    },
  },
  {
    format: messages,
    ask: (question, name) => ({
      model: 'm',
      max_tokens: 9000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      messages: [{ role: 'user', content: question }],
      tools: [{ name, input_schema: schema }],
    }),
    goOn(asked, answer, content) {
      const calls = objectsAt(answer, 'content').filter((block) => block.type === 'tool_use')
      const results = calls.map(({ id = '' }) => ({ type: 'tool_result', tool_use_id: id, content }))
      const added = [
        { role: 'assistant', content: answer.content ?? [] },
        { role: 'user', content: results },
      ]
      return { ...asked, messages: [...listAt(asked, 'messages'), ...added] }
    },
  },
  {
    format: responses,
    ask: (question, name) => ({
      model: 'm',
      max_output_tokens: 9000,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      input: [{ role: 'user', content: question }],
      tools: [{ type: 'function', name, parameters: schema }],
    }),
    goOn(asked, answer, output) {
      const calls = objectsAt(answer, 'output').filter((item) => item.type === 'function_call')
      const results = calls.map((call) => ({
        type: 'function_call_output',
        call_id: textAt(call, 'call_id') ?? '',
        output,
      }))
      return { ...asked, input: [...listAt(asked, 'input'), ...listAt(answer, 'output'), ...results] }
    },
  },
  {
    format: gemini,
    ask: (question, name) => ({
      model: 'm',
      contents: [{ role: 'user', parts: [{ text: question }] }],
      generationConfig: {
        maxOutputTokens: 9000,
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
      },
      tools: [{ functionDeclarations: [{ name, parametersJsonSchema: schema }] }],
    }),
    goOn(asked, answer, output) {
      const content = objectAt(objectsAt(answer, 'candidates')[0] ?? {}, 'content')
      const calls = objectsAt(content, 'parts').map((part) => objectAt(part, 'functionCall'))
      const response = parseJsonObject(output) ?? { output }
      const results = calls
        .filter((call) => call.name !== undefined)
        .map(({ id = '', name = '' }) => ({ functionResponse: { id, name, response } }))
      return { ...asked, contents: [...listAt(asked, 'contents'), content, { role: 'user', parts: results }] }
    },
  },
]

function listAt(object: JsonObject, name: string): Json[] {
  const list = object[name]
  return Array.isArray(list) ? list : []
}
