// All clouds share one chunk of the program: a chunk for each cloud would save too little.
export { createAwsSigner } from './aws/signer.ts'
export { createAzureToken } from './azure/token.ts'
export { createGcpToken } from './gcp/token.ts'
