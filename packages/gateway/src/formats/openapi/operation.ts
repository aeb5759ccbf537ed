import type { JsonObject } from '../json.ts'

/** What an OpenAPI document says that can be called, as plain data: the document itself is not needed any more. */
export interface OpenApiTools {
  title: string
  version: string
  operations: OpenApiOperation[]
}

export interface OpenApiOperation {
  tool: OpenApiTool
  /** In capital letters. */
  method: string
  /** Fixed parts, fit for a request line as they are, and parameters between them. */
  path: (string | { parameter: string })[]
  parameters: OpenApiParameter[]
  body: OpenApiBody | null
  /** Kinds of answers that are asked for, as the header says it. */
  accept: string
}

/** As clients are told of it. */
export interface OpenApiTool {
  name: string
  title?: string
  description: string
  inputSchema: JsonObject
}

export interface OpenApiParameter {
  in: ParameterPlace
  name: string
  required: boolean
  /** `json` is a value in JSON, as one text. */
  style: ParameterStyle | 'json'
  explode: boolean
  /** Names that an object may bring along; null where the document allows any. */
  keys: string[] | null
}

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

export type ParameterStyle = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

export interface OpenApiBody {
  mediaType: string
  /** How the argument says it: as any JSON, a text, bytes in base64, or an object with the fields of a form. */
  as: 'json' | 'text' | 'base64' | 'form' | 'multipart'
  required: boolean
  /** Fields of a form that are written in a way of their own. */
  fields: Record<string, FormField>
}

export interface FormField {
  /** Null where the kind of value decides. */
  style: ParameterStyle | null
  explode: boolean
  /** Of a part; null where the kind of value decides. */
  mediaType: string | null
  /** Given in base64, and sent as bytes. */
  isFile: boolean
}

export const PARAMETER_PLACES: readonly ParameterPlace[] = ['path', 'query', 'header', 'cookie']

/** How values may be written in each place, the default first. */
export const STYLES: Readonly<Record<ParameterPlace, readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}
