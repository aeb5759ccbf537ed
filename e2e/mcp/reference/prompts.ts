import {
  acceptedContent,
  completable,
  type GetPromptResult,
  inputRequired,
  type McpServer,
  type PromptMessage,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { PNG } from './item.ts'

/** Prompts that the scenarios of the conformance suite ask for by name. */
export const prompts: readonly ((server: McpServer) => void)[] = [
  (server) =>
    server.registerPrompt('test_simple_prompt', { description: 'A text.' }, () =>
      said({ type: 'text', text: 'This is a simple prompt for testing.' }),
    ),
  (server) => {
    const word = (name: string) =>
      completable(z.string().describe(`Argument ${name}`), (begun) =>
        ['paris', 'park', 'party', 'test'].filter((known) => known.startsWith(begun)),
      )
    server.registerPrompt(
      'test_prompt_with_arguments',
      {
        description: 'A text made of two arguments.',
        argsSchema: z.object({ arg1: word('arg1'), arg2: word('arg2') }),
      },
      ({ arg1, arg2 }) => said({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
    )
  },
  (server) =>
    server.registerPrompt(
      'test_prompt_with_embedded_resource',
      { description: 'A resource and a text.', argsSchema: z.object({ resourceUri: z.string() }) },
      ({ resourceUri }) =>
        said(
          {
            type: 'resource',
            resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
          { type: 'text', text: 'Please process the embedded resource above.' },
        ),
    ),
  (server) =>
    server.registerPrompt('test_prompt_with_image', { description: 'An image and a text.' }, () =>
      said(
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'text', text: 'Please analyze the image above.' },
      ),
    ),
  (server) =>
    server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context.' }, (ctx) => {
      const context = acceptedContent(ctx.mcpReq.inputResponses, 'user_context')?.['context']
      if (typeof context === 'string') return said({ type: 'text', text: `In the context of ${context}` })
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: 'What context should the prompt use?',
            requestedSchema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
          }),
        },
      })
    }),
]

function said(...contents: PromptMessage['content'][]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: 'user', content })) }
}
