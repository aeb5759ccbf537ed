import type { Json, JsonObject } from '@portico/chat'
import { isObject } from '@portico/http/json'
import type { TextInfo } from '../guard.ts'
import { compare } from '../passage.ts'
import type { OffsetUnit } from './check.ts'
import { toUtf16 } from './offsets.ts'
import { type Pack, type Piece, SEPARATOR } from './packs.ts'

/** A part of a text that a mask replaces. */
export interface MaskSpan {
  /** The index of the text. */
  index: number
  start: number
  end: number
  mask: string
}

/** Reads the result of a `mask` expression; null when the result is not a list of masks for these pieces. */
export function readMasks(result: Json, pack: Pack, unit: OffsetUnit, about: readonly TextInfo[]): MaskSpan[] | null {
  if (result === null) return []
  if (!Array.isArray(result)) return null
  if (result.length > 0 && result.every((item) => typeof item === 'string')) {
    return result.length === pack.length ? pack.flatMap((piece, at) => spansBetween(piece, result[at] as string)) : null
  }
  return result.every(isObject) ? readSpans(result, pack, { unit, about }) : null
}

/** The changes that a service made to a piece. */
function spansBetween({ text, index, start }: Piece, after: string): MaskSpan[] {
  const spans: MaskSpan[] = []
  let at = start
  for (const passage of compare(text, after)) {
    if (passage.isMask) spans.push({ index, start: at, end: at + passage.of, mask: passage.text })
    at += passage.of
  }
  return spans
}

interface Reading {
  unit: OffsetUnit
  about: readonly TextInfo[]
}

function readSpans(items: readonly JsonObject[], pack: Pack, reading: Reading): MaskSpan[] | null {
  const itemsByPiece = new Map<number | null, JsonObject[]>()
  for (const item of items) {
    const { index = null } = item
    if (index !== null && (typeof index !== 'number' || pack[index] === undefined)) return null
    const others = itemsByPiece.get(index)
    if (others === undefined) itemsByPiece.set(index, [item])
    else others.push(item)
  }
  const spans: MaskSpan[] = []
  for (const [index, those] of itemsByPiece) {
    const pieces = index === null ? pack : pack.slice(index, index + 1)
    const read = readSpansOf(pieces, those, reading)
    if (read === null) return null
    spans.push(...read)
  }
  return spans
}

/** Spans in the joined text of these pieces. */
function readSpansOf(pieces: Pack, items: readonly JsonObject[], { unit, about }: Reading): MaskSpan[] | null {
  const joined = pieces.map(({ text }) => text).join(SEPARATOR)
  const offsets = items.flatMap(({ start, end }) => [start, end])
  if (!offsets.every((offset) => typeof offset === 'number')) return null
  const positions = toUtf16(joined, unit, offsets)
  const spans: MaskSpan[] = []
  for (const { start, end, mask = null, match = null } of items) {
    const from = positions.get(start as number)
    const to = positions.get(end as number)
    if (from === undefined || to === undefined || from > to) return null
    if (mask !== null && typeof mask !== 'string') return null
    if (match !== null && match !== joined.slice(from, to)) return null
    if (from < to) spans.push(...divide(pieces, { from, to, mask: mask ?? '<masked>' }, about))
  }
  return spans
}

/** Divides a span of joined pieces into one for each text. */
function divide(
  pieces: Pack,
  { from, to, mask }: { from: number; to: number; mask: string },
  about: readonly TextInfo[],
): MaskSpan[] {
  const spans: MaskSpan[] = []
  let offset = 0
  for (const { text, index, start } of pieces) {
    const first = Math.max(from - offset, 0)
    const last = Math.min(to - offset, text.length)
    const written = about[index]?.form === 'json' ? JSON.stringify(mask).slice(1, -1) : mask
    if (first < last) spans.push({ index, start: start + first, end: start + last, mask: written })
    offset += text.length + SEPARATOR.length
  }
  return spans
}

/** Masks texts. Spans that overlap become one, with the mask of the longest. */
export function applyMasks(
  texts: readonly string[],
  spans: readonly MaskSpan[],
  about: readonly TextInfo[],
): readonly string[] {
  const spansByText = Map.groupBy(spans, ({ index }) => index)
  return texts.map((text, index) => {
    const own = spansByText.get(index) ?? []
    const whole = about[index]?.form === 'json' ? keepEscapes(text, own) : own
    return applyTo(text, whole)
  })
}

function applyTo(text: string, spans: readonly MaskSpan[]): string {
  let masked = ''
  let at = 0
  for (const { start, end, mask } of joinOverlaps(spans)) {
    masked += text.slice(at, start) + mask
    at = end
  }
  return masked + text.slice(at)
}

function joinOverlaps(spans: readonly MaskSpan[]): MaskSpan[] {
  const joined: MaskSpan[] = []
  let longest = 0
  for (const span of spans.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    const last = joined.at(-1)
    if (last === undefined || span.start >= last.end) {
      joined.push({ ...span })
      longest = span.end - span.start
      continue
    }
    if (span.end - span.start > longest) {
      last.mask = span.mask
      longest = span.end - span.start
    }
    last.end = Math.max(last.end, span.end)
  }
  return joined
}

/** Widens spans in JSON to whole escape sequences: `\n` is two characters for a service, but one for a reader of JSON. */
function keepEscapes(json: string, spans: readonly MaskSpan[]): MaskSpan[] {
  const escapes = escapesAround(
    json,
    spans.flatMap(({ start, end }) => [start, end]),
  )
  return spans.map((span) => ({
    ...span,
    start: escapes.get(span.start)?.start ?? span.start,
    end: escapes.get(span.end)?.end ?? span.end,
  }))
}

/** The escape sequences that the positions are within, by position. */
function escapesAround(json: string, positions: readonly number[]): Map<number, { start: number; end: number }> {
  const around = new Map<number, { start: number; end: number }>()
  let start = json.indexOf('\\')
  for (const position of positions.toSorted((left, right) => left - right)) {
    let end = escapeEnd(json, start)
    while (start !== -1 && end <= position) {
      start = json.indexOf('\\', end)
      end = escapeEnd(json, start)
    }
    if (start !== -1 && start < position) around.set(position, { start, end })
  }
  return around
}

function escapeEnd(json: string, start: number): number {
  return start + (json[start + 1] === 'u' ? 6 : 2)
}
