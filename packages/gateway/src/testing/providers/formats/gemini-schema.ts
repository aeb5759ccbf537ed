import { z } from 'zod'

/** The part of OpenAPI that Gemini takes for parameters and answers; JSON Schema words beyond it are refused. */
export interface SchemaNode {
  type?: string
  properties?: Record<string, SchemaNode>
  items?: SchemaNode
  anyOf?: SchemaNode[]
  [word: string]: unknown
}

export const schemaSchema: z.ZodType<SchemaNode> = z.lazy(() =>
  z.strictObject({
    type: z
      .string()
      .regex(/^(string|number|integer|boolean|array|object|null)$/i)
      .optional(),
    format: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    nullable: z.boolean().optional(),
    default: z.unknown().optional(),
    example: z.unknown().optional(),
    enum: z.array(z.string()).optional(),
    items: schemaSchema.optional(),
    minItems: size,
    maxItems: size,
    properties: z.record(z.string(), schemaSchema).optional(),
    required: z.array(z.string()).optional(),
    propertyOrdering: z.array(z.string()).optional(),
    minProperties: size,
    maxProperties: size,
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: size,
    maxLength: size,
    pattern: z.string().optional(),
    anyOf: z.array(schemaSchema).optional(),
  }),
)

/** 64-bit numbers may be texts on this wire. */
const size = z.union([z.int().min(0), z.string().regex(/^\d+$/)]).optional()
