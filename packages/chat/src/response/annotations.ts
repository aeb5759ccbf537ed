import { isObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { JsonObject } from '../middle.ts'

/** Sources that a text names, in the form of Chat Completions, whichever vendor named them. */

/** The range of a part in the text of the whole response, in characters. */
interface TextRange {
  start: number
  end: number
}

/** The sources of one part; `rest` has them as the provider wrote them. */
export function annotationsOf(rest: JsonObject | undefined, range: TextRange): JsonObject[] {
  if (rest === undefined) return []
  const annotations = objectsAt(rest, 'annotations').map(nestedAnnotation)
  return annotations.length > 0
    ? annotations
    : objectsAt(rest, 'citations').flatMap((each) => fromCitation(each, range))
}

/** Converts an annotation of Chat Completions, which is nested, to the flat form of Responses. */
export function flatAnnotation(annotation: JsonObject): JsonObject {
  const { url_citation: citation, ...others } = annotation
  return isObject(citation) ? { ...others, ...citation } : annotation
}

function nestedAnnotation(annotation: JsonObject): JsonObject {
  const { type, ...citation } = annotation
  return type === 'url_citation' && annotation.url_citation === undefined
    ? { type, url_citation: citation }
    : annotation
}

/** A Messages citation covers a whole block; a document citation has no URL that other formats could show. */
function fromCitation(citation: JsonObject, { start, end }: TextRange): JsonObject[] {
  const url = textAt(citation, 'url') ?? textAt(citation, 'source')
  if (url === undefined) return []
  return [urlCitation({ url, title: textAt(citation, 'title') ?? '', start, end })]
}

function urlCitation({ url, title, start, end }: TextRange & { url: string; title: string }): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title } }
}

/** The sources of a Gemini response; Gemini counts offsets in bytes of UTF-8. */
export function fromGrounding(metadata: JsonObject, text: string): JsonObject[] {
  const chunks = objectsAt(metadata, 'groundingChunks').map((chunk) => objectAt(chunk, 'web'))
  const bytes = Buffer.from(text)
  const characters = (offset: number): number => bytes.subarray(0, offset).toString('utf8').length
  return objectsAt(metadata, 'groundingSupports').flatMap((support) => {
    const segment = objectAt(support, 'segment')
    const start = characters(typeof segment.startIndex === 'number' ? segment.startIndex : 0)
    const end = characters(typeof segment.endIndex === 'number' ? segment.endIndex : 0)
    const indices = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : []
    return indices.flatMap((index) => {
      const source = typeof index === 'number' ? chunks[index] : undefined
      const url = source === undefined ? undefined : textAt(source, 'uri')
      if (source === undefined || url === undefined) return []
      return [urlCitation({ url, title: textAt(source, 'title') ?? '', start, end })]
    })
  })
}
