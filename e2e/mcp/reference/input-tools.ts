import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type ElicitInputParams,
  type InputRequests,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { clientCapabilities } from './capabilities.ts'
import { type ReferenceTool, text } from './item.ts'

/** Seals what a tool wants to find again when it is called with the answers. */
export const stateCodec = createRequestStateCodec<{ step: number }>({ key: 'reference-server-state-key-of-32-bytes' })

const NAME: ElicitInputParams = {
  message: 'What is your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}

const CONFIRMATION: ElicitInputParams = {
  message: 'Please confirm',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
}

const CAPITAL = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
})

/** Tools that need answers of the client and are called again with them, as the revision without sessions does. */
export const inputTools: ReferenceTool[] = [
  {
    name: 'test_input_required_result_elicitation',
    description: 'Asks for a name.',
    call: (_, { ctx }) => askName(ctx, (name) => text(`Hello, ${name}!`)),
  },
  {
    name: 'test_input_required_result_sampling',
    description: "Asks the client's model.",
    call(_, { ctx }) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital_question')
      if (answer.kind !== 'sampling') return inputRequired({ inputRequests: { capital_question: CAPITAL } })
      return text(JSON.stringify(answer.result.content))
    },
  },
  {
    name: 'test_input_required_result_list_roots',
    description: 'Asks for the roots of the client.',
    call(_, { ctx }) {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'client_roots')
      if (answer.kind !== 'roots') return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      return text(answer.roots.map(({ uri }) => uri).join(' '))
    },
  },
  {
    name: 'test_input_required_result_request_state',
    description: 'Asks for a confirmation, and expects its state back.',
    call: (_, { ctx }) => confirm(ctx),
  },
  {
    name: 'test_input_required_result_tampered_state',
    description: 'Asks for a confirmation, and refuses a state that is not its own.',
    call: (_, { ctx }) => confirm(ctx),
  },
  {
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks for three things at once.',
    async call(_, { ctx }) {
      const { inputResponses } = ctx.mcpReq
      const name = acceptedContent(inputResponses, 'user_name')?.['name']
      const greeting = inputResponse(inputResponses, 'greeting')
      const roots = inputResponse(inputResponses, 'client_roots')
      if (typeof name === 'string' && greeting.kind === 'sampling' && roots.kind === 'roots') {
        return text(`${name}, ${roots.roots.length} roots`)
      }
      const inputRequests: InputRequests = {
        user_name: inputRequired.elicit(NAME),
        greeting: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Generate a greeting' } }],
          maxTokens: 50,
        }),
        client_roots: inputRequired.listRoots(),
      }
      return inputRequired({ inputRequests, requestState: await stateCodec.mint({ step: 1 }) })
    },
  },
  {
    name: 'test_input_required_result_multi_round',
    description: 'Asks twice.',
    async call(_, { ctx }) {
      const step = ctx.mcpReq.requestState<{ step: number }>()?.step ?? 0
      if (step === 2 && acceptedContent(ctx.mcpReq.inputResponses, 'step2') !== undefined) return text('both answered')
      if (step >= 1 && acceptedContent(ctx.mcpReq.inputResponses, 'step1') !== undefined) {
        const color: ElicitInputParams = {
          message: 'Step 2: What is your favorite color?',
          requestedSchema: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] },
        }
        return inputRequired({
          inputRequests: { step2: inputRequired.elicit(color) },
          requestState: await stateCodec.mint({ step: 2 }),
        })
      }
      return inputRequired({
        inputRequests: { step1: inputRequired.elicit({ ...NAME, message: 'Step 1: What is your name?' }) },
        requestState: await stateCodec.mint({ step: 1 }),
      })
    },
  },
  {
    name: 'test_input_required_result_capabilities',
    description: 'Asks only what the client says it can answer.',
    call(_, { ctx }) {
      const { elicitation, sampling } = clientCapabilities(ctx)
      const inputRequests = {
        ...(elicitation !== undefined && { user_name: inputRequired.elicit(NAME) }),
        ...(sampling !== undefined && { capital_question: CAPITAL }),
      }
      if (Object.keys(inputRequests).length === 0) return text('nothing can be asked')
      return inputRequired({ inputRequests })
    },
  },
  {
    name: 'test_missing_capability',
    description: 'Needs a model of the client, whether it has one or not.',
    call: () => inputRequired({ inputRequests: { capital_question: CAPITAL } }),
  },
  {
    name: 'test_streaming_elicitation',
    description: 'Tells of progress, then asks for a name.',
    async call(_, { ctx }) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken: 'streaming', progress: 1 } })
      return askName(ctx, (name) => text(`Hello, ${name}!`))
    },
  },
]

/** Goes on with the name once it is known. */
export function askName(ctx: ServerContext, goOn: (name: string) => CallToolResult) {
  const name = acceptedContent(ctx.mcpReq.inputResponses, 'user_name')?.['name']
  if (typeof name === 'string') return goOn(name)
  return inputRequired({ inputRequests: { user_name: inputRequired.elicit(NAME) } })
}

async function confirm(ctx: ServerContext) {
  const isOurs = ctx.mcpReq.requestState<{ step: number }>()?.step === 1
  if (isOurs && acceptedContent(ctx.mcpReq.inputResponses, 'confirm') !== undefined) return text('state-ok')
  return inputRequired({
    inputRequests: { confirm: inputRequired.elicit(CONFIRMATION) },
    requestState: await stateCodec.mint({ step: 1 }),
  })
}
