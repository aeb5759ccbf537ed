import { readParameters } from './parameters.ts'

/** The boundary of a form, or the problem of a content type that is not a form's. */
type FormBoundary = { readonly boundary: string } | { readonly problem: string }

/** Reads the boundary from the content type of a request. */
export function readBoundary(contentType: string | null): FormBoundary {
  const type = contentType === null ? null : TYPE.exec(contentType)
  if (type === null) return { problem: 'must be multipart/form-data' }
  const parameters = readParameters(type.input, type[0].length)
  if (typeof parameters === 'string') return { problem: `has a content type that ${parameters}` }
  const { boundary, charset = 'utf-8', ...others } = Object.fromEntries(parameters)
  const [other] = Object.keys(others)
  if (other !== undefined) return { problem: 'has a content type with an unknown parameter' }
  if (!/^utf-?8$/i.test(charset)) return { problem: 'must be UTF-8' }
  if (boundary === undefined) return { problem: 'has a content type without a boundary' }
  return BOUNDARY.test(boundary) ? { boundary } : { problem: 'has a content type with an invalid boundary' }
}

const TYPE = /^multipart\/form-data(?=[ \t]*(?:;|$))/i
/** RFC 2046: at most 70 characters, the last one no blank. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/
