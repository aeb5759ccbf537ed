import { randomUUID } from 'node:crypto'
import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequests,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { speaksTasks, TASKS_EXTENSION } from './capabilities.ts'

/** The work of a task. It may request input from the client; `signal` is aborted when the task is canceled. */
export type Work = (job: {
  signal: AbortSignal
  ask: (requests: InputRequests) => Promise<Record<string, unknown>>
}) => Promise<CallToolResult>

interface Task {
  state: Record<string, unknown> & { taskId: string; status: string; lastUpdatedAt: string }
  stop: AbortController
  pending: InputRequests
  answers: Record<string, unknown>
  answered: () => void
}

interface TaskParams {
  taskId: string
}

/** Calls that outlive their request (SEP-2663), which the SDK leaves to the server. */
export class Tasks {
  readonly #tasks = new Map<string, Task>()

  /** Begins the work, and gives what `tools/call` is answered with. */
  start(work: Work): CallToolResult {
    const now = new Date().toISOString()
    const task: Task = {
      state: {
        taskId: randomUUID(),
        status: 'working',
        createdAt: now,
        lastUpdatedAt: now,
        ttlMs: 600_000,
        pollIntervalMs: 100,
      },
      stop: new AbortController(),
      pending: {},
      answers: {},
      answered: () => {},
    }
    this.#tasks.set(task.state.taskId, task)
    void this.#run(task, work)
    // The SDK has no type for the answer that tells of a task: it is a result of a tool with other members.
    return { ...task.state, resultType: 'task' } as unknown as CallToolResult
  }

  /** Answers the methods of the extension. */
  serve(server: Server): void {
    const params = fromJsonSchema<TaskParams>({
      type: 'object',
      properties: { taskId: { type: 'string' } },
      required: ['taskId'],
    })
    server.setRequestHandler('tasks/get', { params }, (asked, ctx) => {
      const { state, pending } = this.#find(asked, ctx)
      return state.status === 'input_required' ? { ...state, inputRequests: pending } : { ...state }
    })
    server.setRequestHandler('tasks/update', { params }, (asked, ctx) => {
      const task = this.#find(asked, ctx)
      for (const [key, answer] of Object.entries(ctx.mcpReq.inputResponses ?? {})) {
        if (task.pending[key] === undefined) continue
        delete task.pending[key]
        task.answers[key] = answer
      }
      if (Object.keys(task.pending).length === 0) task.answered()
      return {}
    })
    server.setRequestHandler('tasks/cancel', { params }, (asked, ctx) => {
      this.#find(asked, ctx).stop.abort()
      return {}
    })
  }

  /** Ends the tasks that still work. */
  close(): void {
    for (const { stop } of this.#tasks.values()) stop.abort()
  }

  #find({ taskId }: TaskParams, ctx: ServerContext): Task {
    requireTasks(ctx)
    const task = this.#tasks.get(taskId)
    if (task === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown task: ${taskId}`)
    return task
  }

  async #run(task: Task, work: Work): Promise<void> {
    const become = (change: Record<string, unknown> & { status: string }): void => {
      Object.assign(task.state, change, { lastUpdatedAt: new Date().toISOString() })
    }
    const ask = async (requests: InputRequests): Promise<Record<string, unknown>> => {
      task.pending = { ...requests }
      become({ status: 'input_required' })
      await new Promise<void>((resolve, reject) => {
        task.answered = resolve
        task.stop.signal.addEventListener('abort', () => reject(new Error('cancelled')))
      })
      become({ status: 'working' })
      return task.answers
    }
    try {
      become({ status: 'completed', result: await work({ signal: task.stop.signal, ask }) })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      become(
        task.stop.signal.aborted
          ? { status: 'cancelled' }
          : { status: 'failed', error: { code: INTERNAL_ERROR, message } },
      )
    }
  }
}

export function requireTasks(ctx: ServerContext): void {
  if (speaksTasks(ctx)) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}
