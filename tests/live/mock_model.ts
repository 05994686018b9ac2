/**
 * A model provider on the loopback interface that answers every turn with one short sentence, so
 * that a real CLI takes whole turns and runs its hooks with no model and no network.
 *
 * It speaks the parts of the Responses API, of the Messages API and of chat completions that an agent
 * needs to end a turn.
 *
 * @module
 */

/** A running provider. Bind it with `await using`. */
export interface MockModel extends AsyncDisposable {
  /** Where it listens, without a path. */
  readonly origin: string;
  /** Where it listens, the version prefix included. */
  readonly baseUrl: string;
  /** The bodies of the turns that were asked for so far, oldest first. */
  readonly turns: readonly string[];
}

/** What the model says, unless it is told what to say. */
const ANSWER = "All done.";

/** Tools that the model calls, all in one turn; only the Messages API carries them here. */
export interface ToolCalls {
  readonly tools: readonly { readonly name: string; readonly input: unknown }[];
}

/** How one API says something in the turn of a number. */
type Answer = (number: number, said: string | ToolCalls) => readonly StreamEvent[];

/**
 * Starts a provider on a free port.
 *
 * `beforeAnswer` is called with the number of each turn, from 1, and the answer waits for it: until
 * then the session is certainly in the middle of that turn. `say` gives what a turn says or calls.
 */
export function startMockModel(
  beforeAnswer: (number: number, body: string) => Promise<void> | void = () => {},
  say: (number: number, body: string) => string | ToolCalls = () => ANSWER,
): MockModel {
  const turns: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.text();
      const answer = request.method === "POST"
        ? answerOf(new URL(request.url).pathname)
        : undefined;
      if (answer === undefined) {
        return Response.json({ object: "list", data: [{ id: "mock", object: "model" }] });
      }
      // Titles and probes are asked for without tools; only the agent itself has any.
      const isTurn = offersTools(body);
      const number = isTurn ? turns.push(body) : 0;
      if (isTurn) await beforeAnswer(number, body);
      const events = answer(number, isTurn ? say(number, body) : ANSWER).map(asServerSentEvent)
        .join("");
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    turns,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function answerOf(path: string): Answer | undefined {
  if (path.endsWith("/responses")) return responseEvents;
  if (path.endsWith("/chat/completions")) return chatEvents;
  return path.endsWith("/messages") ? messageEvents : undefined;
}

function offersTools(body: string): boolean {
  const request: unknown = JSON.parse(body);
  if (typeof request !== "object" || request === null || !("tools" in request)) return false;
  return Array.isArray(request.tools) && request.tools.length > 0;
}

interface StreamEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

function asServerSentEvent(event: StreamEvent): string {
  // Chat completions name no events, and end with a word that is no JSON.
  if (event.type === "chat.end") return "data: [DONE]\n\n";
  if (event.type === "chat") return `data: ${JSON.stringify(event["chunk"])}\n\n`;
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The Responses stream of one answer: begun, its only message, completed. */
function responseEvents(number: number, said: string | ToolCalls): readonly StreamEvent[] {
  const text = textOf(said);
  const response = { id: `resp_${number}`, object: "response" };
  const content = [{ type: "output_text", text, annotations: [] }];
  const message = { type: "message", id: `msg_${number}`, role: "assistant" };
  const begun = { ...message, status: "in_progress", content: [] };
  const finished = { ...message, status: "completed", content };
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: begun },
    {
      type: "response.output_text.delta",
      item_id: message.id,
      output_index: 0,
      content_index: 0,
      delta: text,
    },
    { type: "response.output_item.done", output_index: 0, item: finished },
    {
      type: "response.completed",
      response: { ...response, status: "completed", output: [finished], usage },
    },
  ];
}

/** The chat completions stream of one answer: its text, then the reason that it ends. */
function chatEvents(number: number, said: string | ToolCalls): readonly StreamEvent[] {
  const text = textOf(said);
  const chunk = (delta: unknown, finish_reason: string | null): StreamEvent => ({
    type: "chat",
    chunk: {
      id: `chat_${number}`,
      object: "chat.completion.chunk",
      created: 0,
      model: "mock",
      choices: [{ index: 0, delta, finish_reason }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  });
  return [
    chunk({ role: "assistant", content: text }, null),
    chunk({}, "stop"),
    { type: "chat.end" },
  ];
}

function textOf(said: string | ToolCalls): string {
  return typeof said === "string" ? said : ANSWER;
}

/** The Messages stream of one answer: a text or calls, then the reason that it ends. */
function messageEvents(number: number, said: string | ToolCalls): readonly StreamEvent[] {
  const message = {
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "mock",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 0 },
  };
  const blocks = typeof said === "string"
    ? [{
      content_block: { type: "text", text: "" },
      delta: { type: "text_delta", text: said },
    }]
    : said.tools.map(({ name, input }, index) => ({
      content_block: { type: "tool_use", id: `toolu_${number}_${index}`, name, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    }));
  return [
    { type: "message_start", message },
    ...blocks.flatMap(({ content_block, delta }, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: {
        stop_reason: typeof said === "string" ? "end_turn" : "tool_use",
        stop_sequence: null,
      },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
}
