/* Convolves by cudnn-frontend's graphs of version 1, with the lists of modes A and FALLBACK.
 *
 *     fe1 'PROBLEM'                  the first plan that can be built (HEURISTICS_CHOICE)
 *     fe1 'PROBLEM' --benchmark      every plan (ALL), twice; then the one that cudnn-frontend chooses
 *     fe1 'PROBLEM' --restore JSON   a graph that was stored
 *
 * Its graphs have no scales: alpha and alpha2 are 1, beta is 0. */
#include <cudnn_frontend.h>

#include "frontend.hpp"

namespace fe = cudnn_frontend;
using Attributes = fe::graph::Tensor_attributes;
using Tensor = std::shared_ptr<Attributes>;

static graph_style ort_style()
{
    graph_style style = {};
    style.x = 1;
    style.w = 2;
    style.y = 3;
    style.z = 4;
    style.bias = 5;
    style.first_virtual = 6;
    style.alignment = 16;
    style.pack = "bzywx";
    style.z_in_y = Z_IN_Y_IF_ALIKE;
    style.one_axis = SIZE_ONE_LAST;
    style.restores = true;
    return style;
}

/* With what the options add. */
static graph_style style = ort_style();

static Attributes attributes(const graph_tensor &it)
{
    return Attributes()
        .set_dim({it.size, it.size + it.axes})
        .set_stride({it.stride, it.stride + it.axes})
        .set_uid(it.uid)
        .set_alignment(style.alignment)
        .set_is_virtual(it.is_virtual);
}

/* What a node of the graph writes, which the graph made. */
static void describe(const Tensor &made, const graph_tensor &it)
{
    made->set_dim({it.size, it.size + it.axes})
        .set_stride({it.stride, it.stride + it.axes})
        .set_uid(it.uid)
        .set_alignment(style.alignment)
        .set_output(!it.is_virtual);
}

template <typename Node>
static Node convolution(const gdnn_conv &conv)
{
    const auto per_axis = [&](const int64_t *values) {
        return std::vector<int64_t>(values, values + conv.spatial);
    };
    return Node()
        .set_pre_padding(per_axis(conv.pad))
        .set_post_padding(per_axis(conv.pad_after))
        .set_stride(per_axis(conv.stride))
        .set_dilation(per_axis(conv.dilation))
        .set_convolution_mode(conv.mode == GDNN_CONV ? fe::ConvolutionMode_t::CONVOLUTION
                                                     : fe::ConvolutionMode_t::CROSS_CORRELATION);
}

static Tensor convolve(fe::graph::Graph &graph, const gdnn_conv &conv)
{
    const auto tensor = [&](const graph_tensor &it) { return graph.tensor(attributes(it)); };
    const graph_tensor x = graph_tensor_x(&conv, &style);
    const graph_tensor w = graph_tensor_w(&conv, &style);
    const graph_tensor y = graph_tensor_y(&conv, &style);
    switch (conv.dir) {
    case GDNN_FWD:
        return graph.conv_fprop(tensor(x), tensor(w),
                                convolution<fe::graph::Conv_fprop_attributes>(conv));
    case GDNN_BWD_DATA:
        return graph.conv_dgrad(tensor(y), tensor(w),
                                convolution<fe::graph::Conv_dgrad_attributes>(conv));
    case GDNN_BWD_FILTER: break;
    }
    return graph.conv_wgrad(tensor(y), tensor(x),
                            convolution<fe::graph::Conv_wgrad_attributes>(conv));
}

static graph_tensor written(const gdnn_conv &conv)
{
    switch (conv.dir) {
    case GDNN_FWD: return graph_tensor_y(&conv, &style);
    case GDNN_BWD_DATA: return graph_tensor_x(&conv, &style);
    case GDNN_BWD_FILTER: break;
    }
    return graph_tensor_w(&conv, &style);
}

static fe::DataType_t data_type(gdnn_dtype type)
{
    switch (type) {
    case GDNN_F16: return fe::DataType_t::HALF;
    case GDNN_BF16: return fe::DataType_t::BFLOAT16;
    case GDNN_F32: return fe::DataType_t::FLOAT;
    case GDNN_F64: break;
    }
    return fe::DataType_t::DOUBLE;
}

static void describe(fe::graph::Graph &graph, const gdnn_conv &given)
{
    gdnn_conv conv = given;
    graph_add_axis(&conv, &style);
    const fe::DataType_t sums =
        conv.dtype == GDNN_F64 ? fe::DataType_t::DOUBLE : fe::DataType_t::FLOAT;
    graph.set_io_data_type(data_type(conv.dtype))
        .set_intermediate_data_type(sums)
        .set_compute_data_type(sums);
    Tensor last = convolve(graph, conv);
    int between = 0;
    const auto add = [&](const graph_tensor *other) {
        describe(last, graph_tensor_between(&conv, &style, between++));
        const auto node = fe::graph::Pointwise_attributes().set_mode(
            other ? fe::PointwiseMode_t::ADD : fe::PointwiseMode_t::RELU_FWD);
        last = other ? graph.pointwise(last, graph.tensor(attributes(*other)), node)
                     : graph.pointwise(last, node);
    };
    if (conv.z) {
        const graph_tensor z = graph_tensor_z(&conv, &style);
        add(&z);
    }
    if (conv.bias) {
        const graph_tensor bias = graph_tensor_bias(&conv, &style);
        add(&bias);
    }
    if (conv.act != GDNN_ACT_NONE)
        add(nullptr);
    describe(last, written(conv));
}

/* False, and said: cuDNN or cudnn-frontend refuses. */
static bool good(const std::string &what, fe::error_t error)
{
    if (error.is_bad())
        frontend_refused(what, error.get_message());
    return error.is_good();
}

class Graph : public fe::graph::Graph
{
  public:
    /* The one that would be executed; cudnn-frontend keeps it for itself. */
    const fe::ExecutionPlan &plan() const
    {
        return *plans.execution_plans.at(plans.candidate);
    }
    int64_t number() const
    {
        return plans.candidate;
    }
};

/* The plans of a face, in its order, have these numbers in the graph. */
struct Session {
    graph_face face;
    Graph graph;
    std::vector<int64_t> numbers;
};

#define GOOD(call) good(#call, session.graph.call)

/* The plan that would be executed, and how it would be stored. */
static void show(Session &session)
{
    const fe::ExecutionPlan &plan = session.graph.plan();
    int64_t workspace = -1;
    if (!GOOD(get_workspace_size(workspace)))
        return;
    session.numbers.push_back(session.graph.number());
    frontend_plan(session.face, plan.getTag(), workspace, plan.getJsonRepresentation(),
                  plan.getAllNumericNotes());
    std::vector<uint8_t> stored;
    if (!session.face.options.restore && GOOD(serialize(stored, false)))
        frontend_stored(nlohmann::json::from_ubjson(stored).dump());
}

static void exclude(Graph &graph, const graph_options &options)
{
    std::vector<fe::NumericalNote_t> notes = {fe::NumericalNote_t::DOWN_CONVERT_INPUTS};
    if (options.no_tensor_core)
        notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
    if (options.deterministic)
        notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
    graph.deselect_numeric_notes(notes);
}

static std::shared_ptr<fe::DeviceProperties> named_gpu(const graph_face &face)
{
    auto gpu = std::make_shared<fe::DeviceProperties>();
    return good("properties of the GPU", gpu->deserialize(frontend_gpu(face))) ? gpu : nullptr;
}

/* Without a handle the GPU is the one that the options name. */
static bool place(Session &session)
{
    const graph_face &face = session.face;
    if (face.target.handle)
        return true;
    const auto gpu = named_gpu(face);
    if (!gpu)
        return false;
    session.graph.set_device_properties(gpu);
    session.graph.set_sm_version(nlohmann::json::parse(frontend_gpu(face))["deviceVer"].get<int>() /
                                 10);
    return true;
}

static void restore(Session &session)
{
    const auto stored = nlohmann::json::parse(session.face.options.restore);
    const auto bytes = nlohmann::json::to_ubjson(stored);
    const cudnnHandle_t handle = session.face.target.handle;
    if (place(session) &&
        (handle ? GOOD(deserialize(handle, bytes, false, false)) : GOOD(deserialize(bytes))))
        show(session);
}

static bool ask(Session &session)
{
    const gdnn_conv &conv = session.face.options.conv;
    if (conv.alpha != 1 || conv.beta != 0 || (conv.z && conv.alpha2 != 1)) {
        frontend_refused("scales", "alpha and alpha2 must be 1, and beta 0");
        return false;
    }
    if (!place(session))
        return false;
    describe(session.graph, conv);
    if (!GOOD(validate()) || !GOOD(build_operation_graph(session.face.target.handle)) ||
        !GOOD(create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK})))
        return false;
    exclude(session.graph, session.face.options);
    return GOOD(check_support());
}

static void plan(Session &session)
{
    const graph_options &options = session.face.options;
    if (options.plan >= 0) {
        if (GOOD(build_plan_at_index(options.plan)))
            show(session);
        return;
    }
    if (!options.benchmark) {
        if (GOOD(build_plans(fe::BuildPlanPolicy_t::HEURISTICS_CHOICE)))
            show(session);
        return;
    }
    if (!GOOD(build_plans(fe::BuildPlanPolicy_t::ALL)))
        return;
    /* Of all, cudnn-frontend executes this one: the first or the last, by its version. */
    const int64_t candidate = session.graph.number();
    show(session);
    for (int64_t i = 0; i < session.graph.get_execution_plan_count(); i++)
        if (i != candidate && session.graph.build_plan_at_index(i).is_good())
            show(session);
}

static cudnnStatus_t status_of(fe::error_t error)
{
    return good("execution", error) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

static std::unordered_map<int64_t, void *> pack(const graph_arguments *arguments)
{
    std::unordered_map<int64_t, void *> made;
    for (int i = 0; i < arguments->count; i++)
        made[arguments->uid[i]] = arguments->pointer[i];
    return made;
}

static cudnnStatus_t execute(const graph_run *run, const graph_plan *plan,
                             const graph_arguments *arguments)
{
    const Session &session = *static_cast<Session *>(run->context);
    auto pointers = pack(arguments);
    return status_of(
        session.graph.execute_plan_at_index(run->handle, pointers, arguments->workspace,
                                            session.numbers[(size_t)(plan - session.face.plan)]));
}

static void plan_and_run(Session &session)
{
    graph_face &face = session.face;
    if (face.options.restore)
        restore(session);
    else if (ask(session))
        plan(session);
    face.run.context = &session;
    face.run.execute = execute;
    graph_face_run(&face, face.options.benchmark ? 2 : 0);
}

int main(int argc, char **argv)
{
    static Session session;
    if (!frontend_begin(argc, argv, style, session.face))
        return session.face.exit_status;
    style = session.face.style;
    try {
        plan_and_run(session);
    } catch (const std::exception &exception) {
        frontend_refused("plans", exception.what());
    }
    session.graph = Graph();
    return graph_face_end(&session.face);
}
