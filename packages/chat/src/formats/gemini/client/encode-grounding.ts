import { objectAt, textAt } from '@portico/http/json'
import type { Json, JsonObject } from '../../../middle.ts'
import { annotationsOf } from '../../../response/annotations.ts'

interface GroundedText {
  text: string
  rest?: JsonObject
}

/** `groundingMetadata` of texts whose provider named sources; null without sources. Google counts bytes of UTF-8. */
export function encodeGrounding(texts: readonly GroundedText[]): JsonObject | null {
  const chunks: JsonObject[] = []
  const supports: JsonObject[] = []
  const whole = texts.map(({ text }) => text).join('')
  const bytes = (length: number): number => Buffer.byteLength(whole.slice(0, length))
  let start = 0
  for (const { text, rest } of texts) {
    const range = { start, end: start + text.length }
    start = range.end
    for (const annotation of annotationsOf(rest, range)) {
      const citation = objectAt(annotation, 'url_citation')
      const uri = textAt(citation, 'url')
      if (uri === undefined) continue
      const [from, to] = [positionIn(citation.start_index, range.start), positionIn(citation.end_index, range.end)]
      supports.push({
        segment: { startIndex: bytes(from), endIndex: bytes(to), text: whole.slice(from, to) },
        groundingChunkIndices: [chunks.length],
      })
      chunks.push({ web: { uri, title: textAt(citation, 'title') ?? '' } })
    }
  }
  return chunks.length === 0 ? null : { groundingChunks: chunks, groundingSupports: supports }
}

function positionIn(index: Json | undefined, otherwise: number): number {
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : otherwise
}
