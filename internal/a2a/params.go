package a2a

import (
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/internal/jsonrpc"
)

// methods are the methods of the protocol that the library reads.
var methods = map[string]jsonrpc.Method{
	"SendMessage":                      {Params: reflect.TypeFor[sendParams](), Rule: messageRule},
	"SendStreamingMessage":             {Params: reflect.TypeFor[sendParams](), Rule: messageRule},
	"GetTask":                          {Params: reflect.TypeFor[a2a.GetTaskRequest]()},
	"ListTasks":                        {Params: reflect.TypeFor[listParams]()},
	"CancelTask":                       {Params: reflect.TypeFor[a2a.CancelTaskRequest]()},
	"SubscribeToTask":                  {Params: reflect.TypeFor[a2a.SubscribeToTaskRequest]()},
	"CreateTaskPushNotificationConfig": {Params: reflect.TypeFor[a2a.PushConfig]()},
	"GetTaskPushNotificationConfig":    {Params: reflect.TypeFor[a2a.GetTaskPushConfigRequest]()},
	"ListTaskPushNotificationConfigs":  {Params: reflect.TypeFor[a2a.ListTaskPushConfigRequest]()},
	"DeleteTaskPushNotificationConfig": {Params: reflect.TypeFor[a2a.DeleteTaskPushConfigRequest]()},
	"GetExtendedAgentCard":             {Params: reflect.TypeFor[a2a.GetExtendedAgentCardRequest]()},
}

// sendParams are a2a.SendMessageRequest, and listParams a2a.ListTasksRequest, whose
// decoders hide which field is wrong.
type sendParams struct {
	Tenant        string                 `json:"tenant"`
	Configuration *a2a.SendMessageConfig `json:"configuration"`
	Metadata      map[string]any         `json:"metadata"`
	Message       *struct {
		MessageID        string         `json:"messageId"`
		ContextID        string         `json:"contextId"`
		TaskID           string         `json:"taskId"`
		Role             string         `json:"role"`
		Extensions       []string       `json:"extensions"`
		ReferenceTaskIDs []string       `json:"referenceTaskIds"`
		Metadata         map[string]any `json:"metadata"`
		Parts            []*partParams  `json:"parts"`
	} `json:"message"`
}

type partParams struct {
	Text      *string        `json:"text"`
	Raw       *[]byte        `json:"raw"`
	Data      jsontext.Value `json:"data"`
	URL       string         `json:"url"`
	Filename  string         `json:"filename"`
	MediaType string         `json:"mediaType"`
	Metadata  map[string]any `json:"metadata"`
}

type listParams struct {
	ContextID            string     `json:"contextId"`
	Status               string     `json:"status"`
	PageSize             int        `json:"pageSize"`
	PageToken            string     `json:"pageToken"`
	HistoryLength        *int       `json:"historyLength"`
	StatusTimestampAfter *time.Time `json:"statusTimestampAfter"`
	IncludeArtifacts     bool       `json:"includeArtifacts"`
}

// messageRule says what is wrong with a message whose fields have the right types.
func messageRule(params any) (field, reason string) {
	m := params.(*sendParams).Message
	if m == nil {
		return "message", "is missing: send an object with messageId, role and parts"
	}
	if len(m.Parts) == 0 {
		return "message.parts", `is missing: send a list with one part, such as {"data": {"skill": "check_domains", "arguments": {"domains": ["example.com"]}}}`
	}
	for i, p := range m.Parts {
		if n := p.contents(); n != 1 {
			return fmt.Sprintf("message.parts[%d]", i), fmt.Sprintf("has %d contents: send exactly one of text, data, raw and url in each part", n)
		}
	}
	return "", ""
}

// contents counts the contents of a part.
func (p *partParams) contents() int {
	n := 0
	for _, has := range []bool{p != nil && p.Text != nil, p != nil && p.Raw != nil, p != nil && p.Data.Kind() != 0 && p.Data.Kind() != 'n', p != nil && p.URL != ""} {
		if has {
			n++
		}
	}
	return n
}

// reasons are the reasons of errors in their details.
var reasons = map[int64]string{jsonrpc.CodeParse: "PARSE_ERROR", jsonrpc.CodeInvalidRequest: "INVALID_REQUEST", jsonrpc.CodeInvalidParams: "INVALID_PARAMS"}

// writeParamsError writes what is wrong with a request: the field as the protocol has it,
// and the error of the service.
func writeParamsError(w http.ResponseWriter, e *jsonrpc.Error) {
	said := e.Body()
	ours := map[string]any{"error": said.Error, "message": said.Message, "code": said.Code}
	if id := w.Header().Get("X-Request-Id"); id != "" {
		ours["requestId"] = id
	}
	details := []*errordetails.Typed{errordetails.NewErrorInfo(reasons[e.Code], a2a.ProtocolDomain, nil)}
	if e.Field != "" {
		ours["details"] = said.Details
		violation := map[string]string{"field": e.Field, "description": e.Reason}
		details = append(details, errordetails.NewTyped("type.googleapis.com/google.rpc.BadRequest", map[string]any{"fieldViolations": []any{violation}}))
	}
	writeError(w, e.Code, e.ID, said.Message, append(details, errordetails.NewFromStruct(ours))...)
}
