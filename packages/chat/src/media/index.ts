export { MediaAnswer } from './media-answer.ts'
