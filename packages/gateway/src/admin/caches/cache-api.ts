import type { IncomingMessage } from 'node:http'
import { object } from '../../schema/kit.ts'
import { boolean, string } from '../../schema/fields/values.ts'
import { printPath } from '../../schema/problem.ts'
import { exactlyOneOf } from '../../schema/rules.ts'
import { validate } from '../../schema/validate.ts'
import type { AnswerSelection } from '../../stores/answers/answer-store.ts'
import type { CacheListView, CachePurgeView } from './cache-view.ts'
import type { AdminCaller } from '../credentials.ts'
import { type Reply, text } from '../http.ts'
import { authorOf } from '../keys/author.ts'
import { readJson } from '../read-json.ts'

/** The response caches, which the main thread asks the workers about. */
export interface CacheSource {
  figures(): Promise<CacheListView>
  /** Resolves with the reason when something may not have been purged. */
  purge(selection: AnswerSelection, by: string): Promise<CachePurgeView | { readonly problem: string }>
}

export async function answerCaches(source: CacheSource): Promise<Reply> {
  return json(await source.figures())
}

/** Purges answers. The guard has checked who asks. */
export async function answerPurge(request: IncomingMessage, source: CacheSource, caller: AdminCaller): Promise<Reply> {
  const body = await readJson(request, MOST_BYTES)
  if ('refused' in body) return body.refused
  const read = validate(SELECTION, body.value)
  if (!read.ok) {
    const lines = read.problems.map(({ path, found, expected }) => {
      const at = path.length === 0 ? '' : `${printPath(path)}: `
      return `${at}${found}, expected ${expected}\n`
    })
    return text(400, lines.join(''))
  }
  const { all, cache, model, apiKey } = read.value
  if (all === false) return text(400, 'all: found false, expected true\n')
  const selection = selectionOf({ cache, model, apiKey })
  const result = await source.purge(selection, authorOf(caller, request))
  return 'problem' in result ? text(503, `${result.problem}\n`) : json(result)
}

function selectionOf({ cache, model, apiKey }: Partial<Record<'cache' | 'model' | 'apiKey', string>>): AnswerSelection {
  if (cache !== undefined) return { cache }
  if (model !== undefined) return { model }
  return apiKey === undefined ? 'all' : { apiKey }
}

function json(value: object): Reply {
  return { status: 200, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

const NAME = string({ min: 1, max: 1_024 }).optional()
const SELECTION = object({ all: boolean().optional(), cache: NAME, model: NAME, apiKey: NAME }, [
  exactlyOneOf('all', 'cache', 'model', 'apiKey'),
])
const MOST_BYTES = 65_536
