import { setTimeout as delay } from 'node:timers/promises'
import { inputRequired } from '@modelcontextprotocol/server'
import { speaksTasks } from './capabilities.ts'
import { askName } from './input-tools.ts'
import { type ReferenceTool, text, type ToolCall } from './item.ts'
import { requireTasks, type Work } from './tasks.ts'

/** Tools of the tasks extension. */
export const taskTools: ReferenceTool[] = [
  {
    name: 'greet',
    description: 'Greets at once.',
    input: { type: 'object', properties: { name: { type: 'string' } } },
    call: ({ name }) => text(`Hello, ${String(name)}!`),
  },
  {
    name: 'slow_compute',
    description: 'Takes its time; a task where the client knows tasks.',
    input: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } } },
    call({ seconds, label }, call) {
      const work: Work = async ({ signal }) => {
        await delay(Number(seconds ?? 0) * 1000, undefined, { signal })
        return text(`computed ${String(label)}`)
      }
      if (speaksTasks(call.ctx)) return call.tasks.start(work)
      return work({ signal: call.ctx.mcpReq.signal, ask: () => Promise.reject(new Error('nobody to ask')) })
    },
  },
  {
    name: 'failing_job',
    description: 'A task whose tool reports an error.',
    call: (_, call) => startTask(call, async () => ({ isError: true, ...text('the job failed') })),
  },
  {
    name: 'protocol_error_job',
    description: 'A task that breaks.',
    call: (_, call) => startTask(call, () => Promise.reject(new Error('the job broke'))),
  },
  {
    name: 'confirm_delete',
    description: 'A task that asks before it deletes.',
    input: { type: 'object', properties: { filename: { type: 'string' } } },
    call: ({ filename }, call) =>
      startTask(call, async ({ ask }) => {
        await ask({ confirm: confirmation(`Delete ${String(filename)}?`) })
        return text(`deleted ${String(filename)}`)
      }),
  },
  {
    name: 'multi_input',
    description: 'A task that asks two things at once.',
    call: (_, call) =>
      startTask(call, async ({ ask }) => {
        const answers = await ask({ first: confirmation('First?'), second: confirmation('Second?') })
        return text(Object.keys(answers).join(' '))
      }),
  },
  {
    name: 'test_tool_with_task',
    description: 'Asks for a name, then works on as a task.',
    call: (_, call) => askName(call.ctx, (name) => startTask(call, async () => text(`computed for ${name}`))),
  },
]

/** A tool that has no other form than a task. */
function startTask(call: ToolCall, work: Work) {
  requireTasks(call.ctx)
  return call.tasks.start(work)
}

function confirmation(message: string) {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  })
}
