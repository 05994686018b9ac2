/**
 * A model provider on the loopback interface that answers every turn with one short sentence, so
 * that a real CLI takes whole turns and runs its hooks with no model and no network.
 *
 * It speaks the part of the Responses API that an agent needs to end a turn.
 *
 * @module
 */

/** A running provider. Bind it with `await using`. */
export interface MockModel extends AsyncDisposable {
  /** Where it listens, the version prefix included. */
  readonly baseUrl: string;
  /** The bodies of the turns that were asked for so far, oldest first. */
  readonly turns: readonly string[];
}

/** What the model says each time. */
const ANSWER = "All done.";

/** Starts a provider on a free port. */
export function startMockModel(): MockModel {
  const turns: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const body = await request.text();
      if (request.method !== "POST" || !new URL(request.url).pathname.endsWith("/responses")) {
        return Response.json({ object: "list", data: [{ id: "mock", object: "model" }] });
      }
      turns.push(body);
      const events = answerEvents(turns.length).map(asServerSentEvent).join("");
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    },
  );
  return {
    baseUrl: `http://127.0.0.1:${server.addr.port}/v1`,
    turns,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface StreamEvent {
  readonly type: string;
  readonly [name: string]: unknown;
}

function asServerSentEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The stream of one answer: begun, its only message, completed. */
function answerEvents(number: number): readonly StreamEvent[] {
  const response = { id: `resp_${number}`, object: "response" };
  const content = [{ type: "output_text", text: ANSWER, annotations: [] }];
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
      delta: ANSWER,
    },
    { type: "response.output_item.done", output_index: 0, item: finished },
    {
      type: "response.completed",
      response: { ...response, status: "completed", output: [finished], usage },
    },
  ];
}
