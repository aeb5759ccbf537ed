import { clientField, lose } from '../../request/carry-over.ts'
import type { JsonObject } from '../../middle.ts'
import type { ConverseEncoder } from './encoder.ts'
import { canCache } from './model.ts'

/** The cache point to put after a part with a cache mark; none without a mark, or when the model does not cache. */
export function cachePoint(mark: JsonObject | undefined, { target, format, losses }: ConverseEncoder): JsonObject[] {
  if (mark === undefined) return []
  if (!canCache(target.model)) {
    lose(losses, { what: 'dropped', path: clientField(format, 'cache'), note: 'this model does not cache' })
    return []
  }
  const { ttl } = mark
  return [{ cachePoint: { type: 'default', ...((ttl === '5m' || ttl === '1h') && { ttl }) } }]
}

/**
 * The cache points to keep; Bedrock accepts four. Points after tools and instructions serve all conversations; inside
 * the conversation the last points cover the most.
 */
export function keptCachePoints(
  fixed: readonly JsonObject[][],
  moving: readonly JsonObject[][],
): ReadonlySet<JsonObject> {
  const keptFixed = pointsIn(fixed).slice(0, MAX_POINTS)
  const room = MAX_POINTS - keptFixed.length
  const all = pointsIn(moving)
  return new Set([...keptFixed, ...all.slice(Math.max(0, all.length - room))])
}

export function withKeptPoints(blocks: readonly JsonObject[], kept: ReadonlySet<JsonObject>): JsonObject[] {
  return blocks.filter((block) => block.cachePoint === undefined || kept.has(block))
}

export function pointsIn(lists: readonly JsonObject[][]): JsonObject[] {
  return lists.flatMap((list) => list.filter((block) => block.cachePoint !== undefined))
}

const MAX_POINTS = 4
