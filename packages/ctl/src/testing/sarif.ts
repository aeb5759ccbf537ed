const message = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } }
const level = { enum: ['none', 'note', 'warning', 'error'] }

/**
 * The schema of the SARIF 2.1.0 properties (sections 3.13 to 3.52) that reports use. Other properties are refused,
 * because a misspelled name would pass otherwise.
 */
export const SARIF = {
  type: 'object',
  required: ['version', 'runs'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        required: ['tool'],
        additionalProperties: false,
        properties: {
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          tool: {
            type: 'object',
            required: ['driver'],
            additionalProperties: false,
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                additionalProperties: false,
                properties: {
                  name: { type: 'string' },
                  version: { type: 'string' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id'],
                      additionalProperties: false,
                      properties: {
                        id: { type: 'string' },
                        shortDescription: message,
                        fullDescription: message,
                        help: message,
                        defaultConfiguration: { type: 'object', additionalProperties: false, properties: { level } },
                      },
                    },
                  },
                },
              },
            },
          },
          results: {
            type: 'array',
            items: {
              type: 'object',
              required: ['message'],
              additionalProperties: false,
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level,
                message,
                locations: {
                  type: 'array',
                  items: {
                    type: 'object',
                    additionalProperties: false,
                    properties: {
                      physicalLocation: {
                        type: 'object',
                        required: ['artifactLocation', 'region'],
                        additionalProperties: false,
                        properties: {
                          artifactLocation: {
                            type: 'object',
                            additionalProperties: false,
                            properties: { uri: { type: 'string', pattern: String.raw`^[^\s\\]+$` } },
                          },
                          region: {
                            type: 'object',
                            additionalProperties: false,
                            properties: {
                              startLine: { type: 'integer', minimum: 1 },
                              startColumn: { type: 'integer', minimum: 1 },
                            },
                          },
                        },
                      },
                      logicalLocations: {
                        type: 'array',
                        items: {
                          type: 'object',
                          additionalProperties: false,
                          properties: { fullyQualifiedName: { type: 'string' } },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
}
