import type { JsonObject } from '../../schema/kit.ts'

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
  style: 'simple' | 'form' | 'deepObject' | 'json'
  explode: boolean
  /** Names that an object may bring along; null where the document allows any. */
  keys: string[] | null
}

export type ParameterPlace = 'path' | 'query' | 'header'

export interface OpenApiBody {
  mediaType: string
  /** How the argument says it. */
  as: 'json' | 'base64'
  required: boolean
}

export const PARAMETER_PLACES: readonly ParameterPlace[] = ['path', 'query', 'header']
