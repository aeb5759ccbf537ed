import type { JsonObject } from '../json.ts'

/** The callable operations of an OpenAPI document as plain data, which does not need the document any more. */
export interface OpenApiTools {
  title: string
  version: string
  operations: OpenApiOperation[]
}

export interface OpenApiOperation {
  tool: OpenApiTool
  /** Upper case. */
  method: string
  /** Fixed parts, ready for a request line, with the parameters between them. */
  path: (string | { parameter: string })[]
  parameters: OpenApiParameter[]
  body: OpenApiBody | null
  /** The value of the `Accept` header. */
  accept: string
}

/** The tool as clients see it. */
interface OpenApiTool {
  name: string
  title?: string
  description: string
  inputSchema: JsonObject
}

export interface OpenApiParameter {
  in: ParameterLocation
  name: string
  required: boolean
  /** `json` is a value encoded as JSON in a single text. */
  style: ParameterStyle | 'json'
  explode: boolean
  /** Names that an object may have; null when the document allows any name. */
  keys: string[] | null
}

export type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

type ParameterStyle = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

export interface OpenApiBody {
  mediaType: string
  /** The form of the argument: any JSON value, a text, bytes in base64, or an object with the fields of a form. */
  as: 'json' | 'text' | 'base64' | 'form' | 'multipart'
  required: boolean
  /** Form fields with an encoding of their own. */
  fields: Record<string, FormField>
}

export interface FormField {
  /** Null when the type of the value decides. */
  style: ParameterStyle | null
  explode: boolean
  /** Media type of a multipart part; null when the type of the value decides. */
  mediaType: string | null
  /** Whether the argument is base64 that is sent as bytes. */
  isFile: boolean
}

export const PARAMETER_LOCATIONS: readonly ParameterLocation[] = ['path', 'query', 'header', 'cookie']

/** The styles that a parameter may have, by location, the default first. */
export const STYLES: Readonly<Record<ParameterLocation, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}
